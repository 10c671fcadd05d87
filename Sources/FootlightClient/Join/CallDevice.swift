/// A camera or a microphone as a join screen shows it.
public struct CallDevice: Sendable, Hashable {
    /// The user has it on.
    public var isEnabled: Bool
    /// The user allowed it to be used.
    public var isAuthorized: Bool
    /// A camera that faces the user; true for microphones.
    public var isFacingUser: Bool

    /// Makes a device.
    public init(isEnabled: Bool, isAuthorized: Bool, isFacingUser: Bool = true) {
        self.isEnabled = isEnabled
        self.isAuthorized = isAuthorized
        self.isFacingUser = isFacingUser
    }

    /// Unmuted only when it is both on and allowed.
    public var muteState: CallMuteState { isEnabled && isAuthorized ? .unmuted : .muted }
}
