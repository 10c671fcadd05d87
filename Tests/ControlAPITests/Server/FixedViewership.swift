import ControlAPI
import Foundation
import Stage
import Synchronization
import Viewership

/// Reports what a test sets.
final class FixedViewership: ViewershipReporting {
    private let rooms = Mutex<[String: RoomViewership]>([:])

    func set(_ report: RoomViewership) {
        rooms.withLock { $0[report.room] = report }
    }

    func report(room: String) -> RoomViewership {
        rooms.withLock { $0[room] } ?? RoomViewership(room: room, asOf: Date(timeIntervalSince1970: 0))
    }

    func makeSession(room: String, identity: String) -> String {
        "sid-\(room)-\(identity)"
    }

    let reports = Mutex<[(report: PlayerReport, room: String?, player: PlayerRequest)]>([])

    func take(_ report: PlayerReport, room: String?, from player: PlayerRequest) -> Bool {
        reports.withLock { $0.append((report, room, player)) }
        return true
    }

    func totals() -> ViewershipTotals {
        let all = rooms.withLock { $0.values.sorted { $0.room < $1.room } }
        var total = RoomViewership(room: "", asOf: Date(timeIntervalSince1970: 0))
        for room in all {
            total.concurrent += room.concurrent
            total.byProtocol.merge(room.byProtocol, uniquingKeysWith: +)
        }
        return ViewershipTotals(rooms: all, total: total)
    }
}
