import Stage
import Synchronization

/// Keeps livestreams as the rules say, and pushes nothing.
final class RecordingLivestreams: LivestreamControlling {
    private let rooms = Mutex<[String: [OutputTarget]]>([:])

    func targets(_ room: String) -> [OutputTarget] {
        rooms.withLock { $0[room] ?? [] }
    }

    private let asked = Mutex<LivestreamOptions?>(nil)

    /// The options of the latest start.
    var options: LivestreamOptions? { asked.withLock { $0 } }

    func start(room: String, targets: [OutputTarget]) throws(StageError) {
        try start(room: room, targets: targets, options: LivestreamOptions())
    }

    func start(room: String, targets: [OutputTarget], options: LivestreamOptions) throws(StageError) {
        asked.withLock { $0 = options }
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

    private let hurried = Mutex<[String]>([])

    /// The outputs that were to try again, in order.
    var retried: [String] { hurried.withLock { $0 } }

    func retry(output name: String, room: String) throws(StageError) {
        guard targets(room).contains(where: { $0.name == name }) else { throw .livestreamNotRunning }
        hurried.withLock { $0.append(name) }
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
