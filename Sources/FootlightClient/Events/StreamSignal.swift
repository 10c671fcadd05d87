import GatewayModel
import Stage

/// What is heard of one event stream.
enum StreamSignal: Sendable {
    /// What the stream is to begin with has come; a snapshot follows as an event.
    case began
    case event(EventResource)
    /// The last signal: the gateway's refusal, or 53000 for a stream that did not begin and 53001 for one that broke.
    case ended(StageError)
}
