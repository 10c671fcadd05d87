import Logging
import Stage
import Synchronization
import Viewership

/// Logs and counts changes of a program's degradation level.
///
/// Any thread.
final class DegradationLog: Sendable {
    fileprivate struct Change: Hashable {
        let isWorse: Bool
        let reason: String
    }

    private struct Room {
        var level = 0
        var reason = ""
        var changes: [Change: Int] = [:]
    }

    private let logger: Logger
    private let rooms = Mutex<[String: Room]>([:])

    init(logger: Logger) {
        self.logger = logger
    }

    /// Records a room's present level; logs if it has changed.
    func update(_ view: RoomView) {
        let level = view.load?.level ?? 0
        let found = rooms.withLock { rooms -> (before: Int, change: Change)? in
            var room = rooms[view.name] ?? Room()
            let before = room.level
            guard before != level else { return nil }
            // On recovery the reason is that of the former level.
            let reason = view.load == nil ? "mixer_ended" : view.load?.reason?.rawValue ?? room.reason
            let change = Change(isWorse: level > before, reason: reason)
            room.changes[change, default: 0] += 1
            (room.level, room.reason) = (level, reason)
            rooms[view.name] = room
            return (before, change)
        }
        guard let (before, change) = found else { return }
        logger.log(
            level: change.isWorse ? .warning : .notice,
            change.isWorse ? "program degradation increased" : "program degradation decreased",
            metadata: [
                "room": "\(view.name)", "from": "\(before)", "to": "\(level)", "reason": "\(change.reason)",
                "work": "\(Int((view.load?.work ?? 0) * 100)) percent",
            ]
        )
    }

    /// Removes a room that ended.
    func roomEnded(_ name: String) {
        rooms.withLock { $0[name] = nil }
    }

    /// The Prometheus counter of changes.
    var family: MetricFamily {
        let rooms = rooms.withLock { $0 }
        return MetricFamily(
            name: "footlight_mixer_degrade_changes_total",
            kind: .counter,
            help: "Changes of the degradation level by direction and reason.",
            samples: rooms.sorted { $0.key < $1.key }.flatMap { name, room in
                room.changes.sorted { $0.key.text < $1.key.text }.map { change, count in
                    MetricFamily.Sample(
                        ["room": name, "direction": change.isWorse ? "worse" : "better", "reason": change.reason],
                        Double(count)
                    )
                }
            }
        )
    }
}

extension DegradationLog.Change {
    fileprivate var text: String { "\(isWorse) \(reason)" }
}
