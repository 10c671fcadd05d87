import Stage
import Synchronization

/// Keeps the state of playlists as the rules say, and makes none.
final class RecordingHLS: HLSControlling {
    private let rooms = Mutex<[String: HLSStatus]>([:])

    func set(_ status: HLSStatus, room: String) {
        rooms.withLock { $0[room] = status }
    }

    func start(room: String) throws(StageError) {
        try rooms.withLock { (rooms) throws(StageError) in
            switch rooms[room]?.state ?? .stopped {
            case .stopped: rooms[room] = HLSStatus(state: .starting)
            case .starting, .started, .playable: throw .hlsAlreadyStarted
            case .stopping: throw .hlsInFlight
            }
        }
    }

    func stop(room: String) throws(StageError) {
        try rooms.withLock { (rooms) throws(StageError) in
            switch rooms[room]?.state ?? .stopped {
            case .stopped: throw .hlsNotStopped("no playlist runs")
            case .starting, .started, .playable: rooms[room] = HLSStatus(state: .stopping)
            case .stopping: throw .hlsInFlight
            }
        }
    }

    func status(room: String) -> HLSStatus {
        rooms.withLock { $0[room] } ?? HLSStatus()
    }
}
