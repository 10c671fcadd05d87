/// Why an address cannot be used, or what ended a connection to a target.
public struct PushError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of fault, which decides how soon another try makes sense.
    public enum Code: String, Sendable, Equatable {
        /// The URL or the stream key is not one we push to.
        case invalidAddress
        /// The host has an address, or the URL a port, that the policy forbids.
        case forbiddenAddress
        case nameNotFound
        /// The target did not take the TCP connection.
        case unreachable
        /// TLS failed, or the certificate is not trusted for this host.
        case insecure
        /// A step took longer than its limit.
        case timedOut
        /// The target answered that it does not want this stream, or hung up right after it was offered.
        case refused
        /// The target closed the connection.
        case closed
        /// The target takes no more data, or far too little.
        case stalled
        /// Not the target's fault: out of descriptors, memory or threads.
        case local
    }

    /// The stable code.
    public var code: Code
    /// One sentence for people; never holds a stream key.
    public var message: String
    /// The target said so in words, rather than by hanging up.
    var isExplicit = false
    /// The status code it said so with, such as `NetStream.Publish.BadName`; empty without one.
    var statusCode = ""

    /// Makes one from its parts.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// In words, without secrets.
    public var description: String { message }

    static func refusedExplicitly(_ message: String, statusCode: String = "") -> PushError {
        var error = PushError(.refused, message)
        error.isExplicit = true
        error.statusCode = statusCode
        return error
    }

    static func system(_ code: Code, _ what: String, errno number: Int32) -> PushError {
        PushError(code, "\(what): \(describe(errno: number))")
    }
}
