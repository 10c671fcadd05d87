import Foundation
public import GatewayModel
public import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Following along.
extension BroadcastClient {
    /// The events of a room, for as long as there is a way to get them.
    ///
    /// First comes `room.snapshot`, or what happened after `revision` as far as the gateway remembers it. A stream that
    /// breaks is opened again, after growing delays, where it broke off: no event is lost, none comes twice. After a
    /// long interruption another snapshot comes instead. Heartbeats are left out.
    ///
    /// The stream ends after `room.ended` and after `session.disconnected`; with the last error thrown when the gateway
    /// refuses, such as 53106 or 20104. What waits for a slow reader is bounded, and what does not fit is asked for
    /// again.
    public func events(of room: String, after revision: UInt64? = nil) -> EventSequence {
        EventSequence(client: self, source: .room(room), revision: revision)
    }

    /// What concerns an identity, in whatever room: the invitations it sent or got; those that ring now come first.
    ///
    /// As ``events(of:after:)``, but after an interruption what rings now comes again.
    ///
    /// - Parameter identity: One's own; any for an operator.
    public func events(ofIdentity identity: String) -> EventSequence {
        EventSequence(client: self, source: .identity(identity), revision: nil)
    }

    /// Tells everybody in a room something in the words of the app.
    ///
    /// It comes as `custom.event` to all who follow the room, in the order of all events; nobody keeps it.
    ///
    /// - Parameters:
    ///   - type: What kind it is, `[A-Za-z0-9._-]{1,64}`.
    ///   - data: What it says, up to 4 KiB as JSON.
    /// - Returns: The event as everybody gets it.
    /// - Throws: 3073 naming the field, 429 for too many, 20106, 3035 for somebody who has not joined, 3065, 53106.
    @discardableResult
    public func sendEvent(
        _ type: String,
        _ data: [String: AnyJSON] = [:],
        to room: String
    ) async throws(StageError) -> EventResource {
        try await command(.post, ["rooms", room, "events"], SendEventBody(type: type, data: data))
    }

    /// Opens one connection.
    ///
    /// - Parameter revision: The last revision known; what came after it is replayed.
    func connect(
        to source: EventSource,
        after revision: UInt64? = nil,
        beginning: StreamBeginning
    ) throws(StageError) -> EventConnection {
        var request =
            switch source {
            case .room(let room): try request(.get, ["rooms", room, "events"])
            case .session(let room, let participant, let sessionID):
                try request(
                    .get,
                    ["rooms", room, "events"],
                    query: [("participant", participant), ("session_id", sessionID)]
                )
            case .identity(let identity): try request(.get, ["events"], query: [("identity", identity)])
            }
        if let revision { request.setValue(String(revision), forHTTPHeaderField: "Last-Event-ID") }
        return EventConnection(request, beginning: beginning, limits: limits, clock: clock)
    }
}
