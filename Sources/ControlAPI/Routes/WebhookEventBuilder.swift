import Foundation
public import FootlightModel
public import Stage
public import Viewership
public import Webhooks

/// Builds webhook events from the API's models.
public struct WebhookEventBuilder: Sendable {
    let directory: RoomDirectory
    let answers: RoomAnswers

    /// Returns a room event as a webhook event; nil for an event that is not delivered.
    ///
    /// - Parameter name: The name of a mapped event; nil for the event's own.
    public func webhookEvent(of event: StageEvent, as name: WebhookOnlyEvent? = nil) -> WebhookEvent? {
        guard let type = WebhookEventType(event.name) else { return nil }
        // A pin for a participant's own view is private.
        if case .pinChanged(let change) = event.payload, change.viewerSID != nil { return nil }
        return WebhookEvent(
            name.map { .webhook($0) } ?? type,
            room: WebhookEvent.Room(sid: event.roomSID, name: event.roomName),
            at: event.at
        ) {
            try WireJSON.encode(
                EventResource(event, context: EventContext(answers: answers, addresses: answers.gatewayAddresses()))
            )
        }
    }

    /// Returns the event that reports a room's viewership once a minute.
    public func minuteEvent(of figures: RoomViewership) -> WebhookEvent {
        WebhookEvent(.webhook(.viewershipMinute), room: room(of: figures.room), at: figures.asOf) {
            try WireJSON.encode(ViewershipResource(figures))
        }
    }

    /// Returns the event that reports what keeps a host from being heard or seen.
    public func diagnosisEvent(of host: HostDiagnosis, in room: RoomView, at date: Double) -> WebhookEvent {
        WebhookEvent(
            .webhook(.hostDiagnosis),
            room: WebhookEvent.Room(sid: room.sid, name: room.settings.name),
            at: date
        ) {
            try WireJSON.encode(HostDiagnosisResource(host))
        }
    }

    /// Returns the event that reports that a broadcast has reached a number of viewers for the first time.
    public func thresholdEvent(_ threshold: Int, of figures: RoomViewership) -> WebhookEvent {
        WebhookEvent(.webhook(.viewershipThreshold), room: room(of: figures.room), at: figures.asOf) {
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
            .webhook(.broadcastSummary),
            room: WebhookEvent.Room(sid: broadcast.roomSID, name: broadcast.room),
            at: Double(broadcast.ended ?? broadcast.began) / 1000,
            mark: mark
        ) {
            throw SummaryNotLoaded()
        }
        guard isWanted(event) else { return event }
        let summary = try await history.summary(of: broadcast)
        event.data = { try WireJSON.encode(summary) }
        return event
    }

    /// The summary was not loaded, because no endpoint subscribed to it at the time.
    private struct SummaryNotLoaded: Error {}

    /// Returns the event that reports to the other endpoints that a webhook was disabled.
    public func disabledEvent(of endpoint: WebhookEndpoint) -> WebhookEvent {
        WebhookEvent(.webhook(.webhookDisabled), at: endpoint.updatedAt) {
            try WireJSON.encode(WebhookResource(endpoint, pending: 0, showsSecret: false))
        }
    }

    private func room(of name: String) -> WebhookEvent.Room {
        WebhookEvent.Room(sid: (try? directory.summary(of: name).sid) ?? "", name: name)
    }
}
