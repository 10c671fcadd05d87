import NIOCore
import NIOHTTP1
import NIOSSL

/// A request on its way through a connection's pipeline, and where its answer goes.
struct PostRequest: Sendable {
    let head: HTTPRequestHead
    let body: ByteBuffer
    let deadline: NIODeadline
    let answer: EventLoopPromise<PostAnswer>
}

/// The part of an answer that matters.
struct PostAnswer: Sendable, Equatable {
    let status: Int
    let retryAfter: String?
    /// The connection is good for another request.
    let isReusable: Bool
}

/// Why there is no answer.
enum PostFault: Error {
    case timedOut
    /// The other side closed, before it said anything.
    case closed
    case tls

    /// What the end of a connection by an error means.
    init(closing error: any Error) {
        switch error {
        case let fault as PostFault: self = fault
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: self = .tls
        default: self = .closed
        }
    }
}
