import Foundation
import GatewayModel
public import Stage
public import Viewership
public import Webhooks

/// What webhooks are told, in the words of the API.
extension ControlRoutes {
    /// An event of a room as its stream has it; nil for one that is not told.
    ///
    /// - Parameter name: That of `ShowNews`; nil for the event's own.
    public func webhookEvent(of event: StageEvent, as name: String? = nil) -> WebhookEvent? {
        guard WebhookType.isTold(event.name) else { return nil }
        // A pin that somebody set for its own view is nobody else's business.
        if case .pinChanged(let change) = event.payload, change.viewerSID != nil { return nil }
        return WebhookEvent(
            name ?? event.name.rawValue,
            room: WebhookEvent.Room(sid: event.roomSID, name: event.roomName),
            at: event.at
        ) {
            try WireJSON.encode(EventResource(event, context: EventContext(routes: self, addresses: addresses())))
        }
    }

    /// How many watch a room, once a minute.
    public func minuteEvent(of figures: RoomViewership) -> WebhookEvent {
        WebhookEvent(WebhookType.minute, room: room(of: figures.room), at: figures.asOf.timeIntervalSince1970) {
            try WireJSON.encode(ViewershipResource(figures))
        }
    }

    /// A broadcast has reached a number of viewers for the first time.
    public func thresholdEvent(_ threshold: Int, of figures: RoomViewership) -> WebhookEvent {
        WebhookEvent(WebhookType.threshold, room: room(of: figures.room), at: figures.asOf.timeIntervalSince1970) {
            try WireJSON.encode(ThresholdResource(threshold: threshold, viewership: ViewershipResource(figures)))
        }
    }

    /// The settled figures of a broadcast that is over.
    ///
    /// - Parameters:
    ///   - mark: Stored with it, so that it is told of once.
    ///   - isWanted: Whether anybody is told; without, the history is not asked.
    /// - Throws: When the history cannot be read.
    public func summaryEvent(
        of broadcast: BroadcastRow,
        in history: any AudienceHistory,
        mark: (name: String, value: Int64),
        where isWanted: (WebhookEvent) -> Bool
    ) async throws -> WebhookEvent {
        var event = WebhookEvent(
            WebhookType.summary,
            room: WebhookEvent.Room(sid: broadcast.roomSID, name: broadcast.room),
            at: Double(broadcast.ended ?? broadcast.began) / 1000,
            mark: mark
        ) {
            throw NotRead()
        }
        guard isWanted(event) else { return event }
        let summary = try await settled(broadcast, in: history)
        event.data = { try WireJSON.encode(summary) }
        return event
    }

    /// Nobody wanted the figures when they could have been read.
    private struct NotRead: Error {}

    /// A webhook was turned off, because it fails or wants no more; for the others.
    public func disabledEvent(of endpoint: WebhookEndpoint) -> WebhookEvent {
        WebhookEvent(WebhookType.disabled, at: endpoint.updatedAt) {
            try WireJSON.encode(WebhookResource(endpoint, pending: 0, showsSecret: false))
        }
    }

    private func room(of name: String) -> WebhookEvent.Room {
        WebhookEvent.Room(sid: (try? directory.summary(of: name).sid) ?? "", name: name)
    }
}
