/// A pin that was set, changed or taken away.
public struct PinChange: Sendable, Hashable {
    /// The sid of the host.
    public var participantSID: String
    /// The pin; nil when it is gone.
    public var pin: Pin?
    /// The sid of the only participant whom it concerns; nil when it concerns everybody.
    public var viewerSID: String?
}
