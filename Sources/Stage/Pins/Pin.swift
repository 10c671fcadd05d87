/// One host, pinned.
public struct Pin: Sendable, Hashable, Codable {
    /// The sid of the host.
    public var participantSID: String
    /// Which pictures it is about.
    public var type: PinType
    /// Set by a participant for its own view; the program never follows it.
    public var isLocal: Bool
    /// Seconds since 1970.
    public var pinnedAt: Double
}
