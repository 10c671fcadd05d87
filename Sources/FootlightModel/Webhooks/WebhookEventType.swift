public import Stage

/// The type of a webhook event.
///
/// The types are those of a room's stream, except for those that are for a single reader and `viewership.updated`, which
/// is reported once a minute instead; and those of webhooks only.
public enum WebhookEventType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// An event of a room's stream.
    case stream(StageEvent.Name)
    /// An event of webhooks only.
    case webhook(WebhookOnlyEvent)

    /// Creates the type of an event of a room's stream; nil for one that is not delivered to webhooks.
    public init?(_ name: StageEvent.Name) {
        switch name {
        case .roomSnapshot, .sessionDisconnected, .heartbeat, .viewershipUpdated: return nil
        default: self = .stream(name)
        }
    }

    /// Creates a type from its text; nil for an unknown one.
    public init?(rawValue: String) {
        if let name = StageEvent.Name(rawValue: rawValue) {
            self.init(name)
        } else if let name = WebhookOnlyEvent(rawValue: rawValue) {
            self = .webhook(name)
        } else {
            return nil
        }
    }

    /// The text, words separated by dots.
    public var rawValue: String {
        switch self {
        case .stream(let name): name.rawValue
        case .webhook(let name): name.rawValue
        }
    }

    /// The text.
    public var description: String { rawValue }

    /// All types to which an endpoint can subscribe: all but `webhook.test`.
    public static let subscribable: [WebhookEventType] =
        StageEvent.Name.allCases.compactMap { WebhookEventType($0) }
        + WebhookOnlyEvent.allCases.filter { $0 != .test }.map { .webhook($0) }
}

/// The events that only webhooks receive.
public enum WebhookOnlyEvent: String, Sendable, Hashable, CaseIterable {
    /// A room was created.
    case roomStarted = "room.started"
    case hostJoined = "host.joined"
    case hostLeft = "host.left"
    /// What keeps a host from being heard or seen has changed.
    case hostDiagnosis = "host.diagnosis"
    /// An output is connected.
    case outputUp = "output.up"
    /// An output lost its connection, or failed.
    case outputDown = "output.down"
    /// The program's degradation level changed.
    case mixerDegraded = "mixer.degraded"
    /// The viewership of a room, once a minute.
    case viewershipMinute = "viewership.minute"
    /// A broadcast reached a number of viewers for the first time.
    case viewershipThreshold = "viewership.threshold"
    /// The summary of an ended broadcast.
    case broadcastSummary = "broadcast.summary"
    /// Another endpoint was disabled.
    case webhookDisabled = "webhook.disabled"
    /// Sent on request to the endpoint itself.
    case test = "webhook.test"
}

/// A selection of webhook events: one type, or all types with a prefix, such as `room.*`.
public struct WebhookEventPattern: RawRepresentable, Sendable, Hashable {
    /// The text.
    public let rawValue: String

    /// Creates a pattern; nil for a text that matches no type to which an endpoint can subscribe.
    public init?(rawValue: String) {
        self.rawValue = rawValue
        guard WebhookEventType.subscribable.contains(where: matches) else { return nil }
    }

    /// Returns whether the pattern selects a type.
    public func matches(_ type: WebhookEventType) -> Bool {
        guard rawValue.hasSuffix(".*") else { return rawValue == type.rawValue }
        return type.rawValue.hasPrefix(rawValue.dropLast())
    }
}
