import ControlAPI
import FootlightModel
import NIOCore
import Stage
import Synchronization

/// Holds the state of livestreams without pushing any.
final class RecordingLivestreams: LivestreamControlling {
    private let rooms = Mutex<[String: [OutputTarget]]>([:])

    func targets(_ room: String) -> [OutputTarget] {
        rooms.withLock { $0[room] ?? [] }
    }

    private let startOptions = Mutex<LivestreamOptions?>(nil)

    /// The options of the latest start.
    var options: LivestreamOptions? { startOptions.withLock { $0 } }

    func start(room: String, targets: [OutputTarget]) throws(StageError) {
        try start(room: room, targets: targets, options: LivestreamOptions())
    }

    func start(room: String, targets: [OutputTarget], options: LivestreamOptions) throws(StageError) {
        startOptions.withLock { $0 = options }
        try rooms.withLock { (rooms) throws(StageError) in
            guard rooms[room] == nil else { throw .livestreamAlreadyStarted }
            rooms[room] = targets
        }
    }

    func stop(room: String) throws(StageError) {
        try rooms.withLock { (rooms) throws(StageError) in
            guard rooms.removeValue(forKey: room) != nil else { throw .livestreamNotRunning }
        }
    }

    func add(_ targets: [OutputTarget], room: String) throws(StageError) {
        try rooms.withLock { (rooms) throws(StageError) in
            guard rooms[room] != nil else { throw .livestreamNotRunning }
            guard targets.allSatisfy({ $0.url.hasPrefix("rtmp") }) else {
                throw .outputInvalid("the address must begin with rtmp")
            }
            rooms[room]?.append(contentsOf: targets)
        }
    }

    func remove(output name: String, room: String) throws(StageError) {
        try rooms.withLock { (rooms) throws(StageError) in
            guard let targets = rooms[room], targets.contains(where: { $0.name == name }) else {
                throw .livestreamNotRunning
            }
            guard targets.count > 1 else {
                throw .outputInvalid("stop the livestream instead", status: 409)
            }
            rooms[room] = targets.filter { $0.name != name }
        }
    }

    private let retriedOutputs = Mutex<[String]>([])

    /// The retried outputs, in order.
    var retried: [String] { retriedOutputs.withLock { $0 } }

    func retry(output name: String, room: String) throws(StageError) {
        guard targets(room).contains(where: { $0.name == name }) else { throw .livestreamNotRunning }
        retriedOutputs.withLock { $0.append(name) }
    }

    func status(room: String) -> LivestreamStatus {
        let targets = targets(room)
        return LivestreamStatus(
            state: targets.isEmpty ? .stopped : .started,
            startedAt: targets.isEmpty ? nil : 100,
            outputs: targets.map {
                OutputStatus(
                    name: $0.name,
                    url: $0.url,
                    maskedStreamKey: "****" + $0.streamKey.suffix(4),
                    state: .connected
                )
            }
        )
    }
}

/// Holds the state of playlists without making any.
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

/// Records uploaded logs, and returns the number of their lines.
final class RecordingLogs: CDNLogReceiving {
    struct Push: Equatable {
        var text: String
        var name: String
        var room: String?
    }

    private let pushLog = Mutex<[Push]>([])

    var pushes: [Push] { pushLog.withLock { $0 } }

    let bodyLimit = 1 << 16

    func read(
        of name: String,
        room: String?,
        body: @Sendable () async throws(StageError) -> ByteBuffer
    ) async throws(StageError) -> LogReceiptResource {
        let text = String(buffer: try await body())
        pushLog.withLock { $0.append(Push(text: text, name: name, room: room)) }
        let lines = text.split(separator: "\n").count
        return LogReceiptResource(taken: lines, ignored: 0, nameless: 0, malformed: 0, late: 0, dropped: 0)
    }
}
