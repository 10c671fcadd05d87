import Media
import Stage
import Synchronization

/// Assigns sids `ROOM-1`, `ROOM-2` …, accepts those of the right room, and records all events.
final class RecordingAudience: AudienceObserving {
    private struct State {
        var made = 0
        var requests: [PlayerRequest] = []
        var events: [AudienceEvent] = []
        var mediaRequests: [(request: PlayerRequest, sid: String?)] = []
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

    /// Whether the id was assigned here and has no second connection.
    func mayReturn(sid: String, room: String) -> Bool {
        guard accepts(sid: sid, room: room), let number = Int(sid.dropFirst(room.count + 1)) else { return false }
        let opened = eventLog.count { $0 == "opened \(sid)" }
        let closed = eventLog.count { $0.hasPrefix("closed(") && $0.hasSuffix(" \(sid)") }
        return number <= state.withLock(\.made) && opened - closed <= 1
    }

    /// Assigns robots, prefetches and tokens of non-viewers an uncounted id `no-ROOM-1`.
    func admit(_ request: PlayerRequest, to room: String) -> ViewerAdmission {
        state.withLock { $0.requests.append(request) }
        if let sid = request.sid { return accepts(sid: sid, room: room) ? .viewer(sid: sid) : .refused }
        let isViewer = request.role == .viewer && request.purpose == nil
        let isRobot = request.userAgent?.contains("robot") ?? false
        let sid = makeSession(room: room)
        return isViewer && !isRobot ? .viewer(sid: sid) : .uncounted(sid: "no-" + sid)
    }

    /// The players that requested admission.
    var requests: [PlayerRequest] { state.withLock { $0.requests } }

    func recordPlayerReport(_ request: PlayerRequest, in room: String, on sid: String?) {
        state.withLock { $0.mediaRequests.append((request, sid)) }
    }

    /// The players of media requests, with the sessions of their connections.
    var mediaRequests: [(request: PlayerRequest, sid: String?)] { state.withLock { $0.mediaRequests } }

    var requesters: Int { state.withLock { $0.requesters } }

    /// Sets the number of viewers by requests.
    func setRequesters(_ count: Int) { state.withLock { $0.requesters = count } }

    func mediaServed(in room: String, to client: UInt64, over connection: UInt64?, at time: MonotonicTime) {
        state.withLock { $0.media.append((room, client, connection, time)) }
    }

    /// Media sent to clients without a session.
    var media: [(room: String, client: UInt64, connection: UInt64?, at: MonotonicTime)] { state.withLock { $0.media } }

    func record(_ event: AudienceEvent) { state.withLock { $0.events.append(event) } }

    var events: [AudienceEvent] { state.withLock { $0.events } }

    /// `opened ROOM-1`, `closed(left) ROOM-1` and so on, in order.
    var eventLog: [String] {
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
