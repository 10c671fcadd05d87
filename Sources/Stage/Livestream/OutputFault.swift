/// Why an output has no connection, and how soon another try makes sense.
public struct OutputFault: Sendable, Hashable {
    /// The kinds of faults, in the spelling of the wire.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// The target said that it does not take a stream under this key.
        case keyRefused = "key_refused"
        /// The target said that it does not have this application.
        case applicationRefused = "application_refused"
        /// The target hung up before it took anything: what many do about a wrong key.
        case hungUp = "hung_up"
        /// The certificate is not trusted for this host.
        case certificate
        /// The URL or the key is not one that can be pushed to.
        case invalidAddress = "invalid_address"
        /// The host leads to an address, or the URL names a port, that is not allowed.
        case forbiddenAddress = "forbidden_address"
        /// The host's name is not known.
        case nameNotFound = "name_not_found"
        /// Nobody takes the connection.
        case unreachable
        /// A step took longer than its limit.
        case timedOut = "timed_out"
        /// The connection broke.
        case connectionLost = "connection_lost"
        /// The target takes no more data, or far too little of it to be of use.
        case stalled
        /// Not the target's fault: this machine is out of descriptors, memory or threads.
        case local
    }

    /// When the next try comes.
    public enum Retry: String, Sendable, Hashable, Codable {
        /// After a second, growing with every failure.
        case soon
        /// Every half a minute: somebody has to change something first.
        case slow
    }

    /// What kind of fault it is.
    public var code: Code
    /// One sentence for people, free of secrets.
    public var message: String
    /// When the next try comes.
    public var retry: Retry

    /// Makes a fault.
    public init(_ code: Code, _ message: String, retry: Retry) {
        self.code = code
        self.message = message
        self.retry = retry
    }
}
