/// Who sends to a writer's socket without asking the writer each time.
///
/// All calls are on the writer's event loop.
public protocol MediaWriterWatching: AnyObject {
    /// `straightSocket` is no longer what it was: nothing may be sent past the writer from now on.
    func straightSocketChanged()
    /// So much waits that the peer takes nothing for now, or it takes again.
    func writabilityChanged(to isWritable: Bool)
}
