/// A pin on a host.
public struct Pin: Sendable, Hashable, Codable {
    /// The sid of the host.
    public var participantSID: String
    /// The pinned sources.
    public var type: PinType
    /// Whether a participant set it for its own view; the program ignores local pins.
    public var isLocal: Bool
    /// Seconds since 1970.
    public var pinnedAt: Double
}

/// The pinned sources of a host.
public enum PinType: String, Sendable, Hashable, Codable, CaseIterable {
    case screenAndCamera = "SHARE_AND_CAM"
    case camera = "CAM"
    case screen = "SHARE"
}

/// The owner of a pin.
public enum PinOwner: Sendable, Hashable {
    /// An operator, for all views and the program.
    case stage
    /// A participant by sid, for its own view.
    case participant(String)
}

/// A pin that was set, changed or removed.
public struct PinChange: Sendable, Hashable {
    /// The sid of the host.
    public var participantSID: String
    /// The pin; nil when removed.
    public var pin: Pin?
    /// The sid of the only participant that sees the change; nil for all.
    public var viewerSID: String?
}
