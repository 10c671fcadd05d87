/// What plays sound to the user; an app that plays none needs to do nothing.
@MainActor
public protocol AudioPlaying: AnyObject {
    /// Stops playing while something else needs the sound of the device.
    func pauseAudio() async

    /// Plays again.
    func resumeAudio() async
}

extension AudioPlaying {
    /// Does nothing.
    public func pauseAudio() async {}

    /// Does nothing.
    public func resumeAudio() async {}
}
