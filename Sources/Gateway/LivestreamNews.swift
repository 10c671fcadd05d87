import Stage
import Synchronization

/// Tells the stage what is new about a room's livestream: its own state, and that of each output that changed.
///
/// `Livestreams` gives the whole status whenever anything of it changes, from one thread.
final class LivestreamNews: Sendable {
    private let stage: RoomDirectory
    private let told = Mutex<[String: LivestreamStatus]>([:])

    init(stage: RoomDirectory) {
        self.stage = stage
    }

    func changed(room: String, _ status: LivestreamStatus) {
        let before = told.withLock { told in
            defer { told[room] = status.state == .stopped ? nil : status }
            return told[room]
        }
        for output in Self.changed(from: before, to: status) { stage.outputChanged(room: room, output) }
        if Self.isOtherState(before, status) { stage.livestreamChanged(room: room, status) }
    }

    /// The outputs that are in another state than before, or failed in another way.
    static func changed(from before: LivestreamStatus?, to status: LivestreamStatus) -> [OutputStatus] {
        let known = Dictionary((before?.outputs ?? []).map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        return status.outputs.filter { output in
            guard let old = known[output.name] else { return output.state != .connecting }
            return old.state != output.state || old.lastFault != output.lastFault || old.isOnSpare != output.isOnSpare
        }
    }

    /// Whether the livestream itself changed: how far it is, or which outputs it has.
    static func isOtherState(_ before: LivestreamStatus?, _ status: LivestreamStatus) -> Bool {
        before?.state != status.state || before?.outputs.map(\.name) != status.outputs.map(\.name)
    }
}
