import Glibc

/// The reason why an address cannot be used, or why a connection to a target ended.
public struct PushError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, which determines the retry delay.
    public enum Code: String, Sendable, Equatable {
        /// The URL or the stream key is malformed or unsupported.
        case invalidAddress
        /// The host has an address, or the URL a port, that the policy forbids.
        case forbiddenAddress
        case nameNotFound
        /// The target did not accept the TCP connection.
        case unreachable
        /// TLS failed, or the certificate is not trusted for this host.
        case insecure
        /// A step took longer than its limit.
        case timedOut
        /// The target refused the stream, or closed the connection right after `publish`.
        case refused
        /// The target closed the connection.
        case closed
        /// The target accepts no more data, or far too little.
        case stalled
        /// A local failure: out of descriptors, memory or threads.
        case local
    }

    /// The stable code.
    public var code: Code
    /// One sentence for people; never holds a stream key.
    public var message: String
    /// Whether the target sent a refusal, rather than closing the connection.
    var isExplicit = false
    /// The target's status code, such as `NetStream.Publish.BadName`; empty without one.
    var statusCode = ""

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
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

/// Returns the system's message for an error number, through the thread-safe `strerror_r`.
func describe(errno number: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        guard let base = buffer.baseAddress, strerror_r(number, base, 128) == 0 else { return "error \(number)" }
        return String(cString: base)
    }
}
