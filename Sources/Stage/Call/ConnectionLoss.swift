/// What a call lost, as the code that tells why it reconnects.
public enum ConnectionLoss: Int, Sendable, Hashable {
    /// The event stream.
    case signalling = 53001
    /// The media this participant publishes.
    case media = 53405
}
