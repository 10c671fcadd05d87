/// What an encoder needs to publish for a host; shown once, when it is made.
public struct HostCredentials: Sendable, Equatable {
    /// The key for microphone and camera, in clear.
    public let streamKey: String
    /// The key for the screen, in clear.
    public var screenStreamKey: String { streamKey + StreamKey.screenSuffix }
}
