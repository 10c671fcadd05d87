/// A reader's stream of a room's events, with a way to end it.
public struct EventSubscription: Sendable {
    /// The events, for one reader.
    public let events: AsyncStream<StageEvent>
    let continuation: AsyncStream<StageEvent>.Continuation

    /// Ends the stream; whoever waits for its next event gets none.
    public func cancel() {
        continuation.finish()
    }
}
