import Foundation
import FootlightModel
public import Stage
public import Viewership
public import Webhooks

/// Builds webhook events from the API's models.
extension ControlRoutes {
    /// Returns a room event as a webhook event; nil for an event that is not delivered.
    ///
    /// - Parameter name: A name of `WebhookEventMapper`; nil for the event's own.
    public func webhookEvent(of event: StageEvent, as name: String? = nil) -> WebhookEvent? {
        guard WebhookType.isDelivered(event.name) else { return nil }
        // A pin for a participant's own view is private.
        if case .pinChanged(let change) = event.payload, change.viewerSID != nil { return nil }
        return WebhookEvent(
            name ?? event.name.rawValue,
            room: WebhookEvent.Room(sid: event.roomSID, name: event.roomName),
            at: event.at
        ) {
            try WireJSON.encode(EventResource(event, context: EventContext(routes: self, addresses: addresses())))
        }
    }

    /// Returns the event that reports a room's viewership once a minute.
    public func minuteEvent(of figures: RoomViewership) -> WebhookEvent {
        WebhookEvent(WebhookType.minute, room: room(of: figures.room), at: figures.asOf.timeIntervalSince1970) {
            try WireJSON.encode(ViewershipResource(figures))
        }
    }

    /// Returns the event that reports that a broadcast has reached a number of viewers for the first time.
    public func thresholdEvent(_ threshold: Int, of figures: RoomViewership) -> WebhookEvent {
        WebhookEvent(WebhookType.threshold, room: room(of: figures.room), at: figures.asOf.timeIntervalSince1970) {
            try WireJSON.encode(ThresholdResource(threshold: threshold, viewership: ViewershipResource(figures)))
        }
    }

    /// Returns the event with the summary of an ended broadcast.
    ///
    /// - Parameters:
    ///   - mark: Stored with the event, so that it is delivered once.
    ///   - isWanted: Whether any endpoint subscribes to it; otherwise the history is not read.
    /// - Throws: An error if the history cannot be read.
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
            throw SummaryNotLoaded()
        }
        guard isWanted(event) else { return event }
        let summary = try await makeSummary(broadcast, in: history)
        event.data = { try WireJSON.encode(summary) }
        return event
    }

    /// The summary was not loaded, because no endpoint subscribed to it at the time.
    private struct SummaryNotLoaded: Error {}

    /// Returns the event that reports to the other endpoints that a webhook was disabled.
    public func disabledEvent(of endpoint: WebhookEndpoint) -> WebhookEvent {
        WebhookEvent(WebhookType.disabled, at: endpoint.updatedAt) {
            try WireJSON.encode(WebhookResource(endpoint, pending: 0, showsSecret: false))
        }
    }

    private func room(of name: String) -> WebhookEvent.Room {
        WebhookEvent.Room(sid: (try? directory.summary(of: name).sid) ?? "", name: name)
    }
}

/// The types of webhook events.
///
/// The types are those of a room's stream, those of `WebhookEventMapper`, and viewership reports. Changes of the
/// viewership are reported once a minute instead, and events for a single reader of a stream are not delivered.
enum WebhookType {
    static let minute = "viewership.minute"
    static let threshold = "viewership.threshold"
    static let summary = "broadcast.summary"
    static let disabled = "webhook.disabled"
    /// Sent on request to the endpoint itself.
    static let test = "webhook.test"

    /// All types that an endpoint can subscribe to.
    static let all: [String] =
        StageEvent.Name.allCases.filter { isDelivered($0) }.map(\.rawValue)
        + WebhookEventMapper.Name.allCases.map(\.rawValue)
        + [minute, threshold, summary, disabled]

    /// Whether an event of a room's stream is delivered.
    static func isDelivered(_ name: StageEvent.Name) -> Bool {
        switch name {
        case .roomSnapshot, .sessionDisconnected, .heartbeat, .viewershipUpdated: false
        default: true
        }
    }
}
