public import Media

/// Where encoded sound and pictures come from: a camera and a microphone, a file, a pattern.
public protocol MediaSource: Sendable {
    /// Gives packets at the pace of the clock until it ends or the task is cancelled.
    ///
    /// Configuration comes before what needs it; decode times are milliseconds on one clock.
    ///
    /// - Parameter take: Takes a packet and returns at once.
    func produce(_ take: @escaping @Sendable (MediaPacket) -> Void) async throws

    /// Somebody cannot go on before the next key picture; the sooner it comes, the better.
    func keyPictureWanted()
}

extension MediaSource {
    /// Nothing, for those whose key pictures come when they come.
    public func keyPictureWanted() {}
}
