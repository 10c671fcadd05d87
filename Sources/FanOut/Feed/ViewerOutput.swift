import Stage

/// One viewer's connection as the feed ends it.
///
/// All calls are on the viewer's event loop.
protocol ViewerOutput: AnyObject {
    /// Ends the connection, telling the player why where its protocol can.
    func end(_ reason: AudienceEvent.CloseReason)
}
