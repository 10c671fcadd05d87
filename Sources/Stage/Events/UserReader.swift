/// One reader's end of the events that concern one identity, in whatever room they happen.
struct UserReader: Sendable {
    let identity: String
    let continuation: AsyncStream<StageEvent>.Continuation

    /// Hands over one event; a reader that falls behind is cut off with a last word.
    ///
    /// - Returns: Whether the reader stays.
    func offer(_ event: StageEvent) -> Bool {
        switch continuation.yield(event) {
        case .enqueued(let remaining) where remaining > 1:
            return true
        case .enqueued:
            // One place is left in the buffer: the last word goes there.
            var last = event
            last.payload = .sessionDisconnected(.readerTooSlow)
            continuation.yield(last)
        case .dropped, .terminated:
            break
        @unknown default:
            break
        }
        continuation.finish()
        return false
    }
}
