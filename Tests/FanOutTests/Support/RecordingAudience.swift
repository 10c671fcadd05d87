import Media
import Stage
import Synchronization

/// Hands out sids `ROOM-1`, `ROOM-2` …, takes those of the right room for its own, and keeps all events.
final class RecordingAudience: AudienceObserving {
    private struct State {
        var made = 0
        var requests: [PlayerRequest] = []
        var events: [AudienceEvent] = []
        var heard: [(request: PlayerRequest, sid: String?)] = []
        var requesters = 0
        var media: [(room: String, client: UInt64, connection: UInt64?, at: MonotonicTime)] = []
    }

    private let state = Mutex(State())

    func makeSession(room: String) -> String {
        state.withLock { state in
            state.made += 1
            return "\(room)-\(state.made)"
        }
    }

    func accepts(sid: String, room: String) -> Bool { sid.hasPrefix(room + "-") }

    /// Who was given the id here, and has no second connection.
    func mayReturn(sid: String, room: String) -> Bool {
        guard accepts(sid: sid, room: room), let number = Int(sid.dropFirst(room.count + 1)) else { return false }
        let opened = story.count { $0 == "opened \(sid)" }
        let closed = story.count { $0.hasPrefix("closed(") && $0.hasSuffix(" \(sid)") }
        return number <= state.withLock(\.made) && opened - closed <= 1
    }

    /// What calls itself a robot or fetches ahead, and what a token says is no viewer, gets an id `no-ROOM-1` that is not counted.
    func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        state.withLock { $0.requests.append(request) }
        if let sid = request.sid { return accepts(sid: sid, room: room) ? .viewer(sid: sid) : .refused }
        let isViewer = request.role == .viewer && request.purpose == nil
        let isRobot = request.userAgent?.contains("robot") ?? false
        let sid = makeSession(room: room)
        return isViewer && !isRobot ? .viewer(sid: sid) : .uncounted(sid: "no-" + sid)
    }

    /// What was said of each player that was asked about.
    var requests: [PlayerRequest] { state.withLock { $0.requests } }

    func hear(_ request: PlayerRequest, in room: String, on sid: String?) {
        state.withLock { $0.heard.append((request, sid)) }
    }

    /// What was said with requests for media, and whose connections they came by.
    var heard: [(request: PlayerRequest, sid: String?)] { state.withLock { $0.heard } }

    var requesters: Int { state.withLock { $0.requesters } }

    /// Says how many viewers there are by requests.
    func setRequesters(_ count: Int) { state.withLock { $0.requesters = count } }

    func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {
        state.withLock { $0.media.append((room, client, connection, time)) }
    }

    /// Media that went to clients, not to sessions.
    var media: [(room: String, client: UInt64, connection: UInt64?, at: MonotonicTime)] { state.withLock { $0.media } }

    func record(_ event: AudienceEvent) { state.withLock { $0.events.append(event) } }

    var events: [AudienceEvent] { state.withLock { $0.events } }

    /// `opened ROOM-1`, `closed(left) ROOM-1` and so on, in order.
    var story: [String] {
        events.map { event in
            switch event.kind {
            case .opened: "opened \(event.sid)"
            case .watched: "watched \(event.sid)"
            case .stalled: "stalled \(event.sid)"
            case .closed(let reason): "closed(\(reason)) \(event.sid)"
            case .playlistServed: "playlist \(event.sid)"
            case .segmentServed: "segment \(event.sid)"
            case .delivered: "delivered \(event.sid)"
            }
        }
    }
}
