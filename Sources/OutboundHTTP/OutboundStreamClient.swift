import AsyncHTTPClient
public import NIOCore
import NIOHTTP1
import NIOSSL

/// A request whose body, if any, is sent as it is produced.
public struct OutboundStreamRequest: Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The server, and the path with the query.
    public var target: OutboundTarget
    /// Header fields besides those that describe the length of the body; without `Host`, that of the target is sent.
    public var headers: [(name: String, value: String)]
    fileprivate var body: HTTPClientRequest.Body?

    /// Makes a request without a body.
    public init(_ method: String, _ target: OutboundTarget, headers: [(name: String, value: String)]) {
        self.method = method
        self.target = target
        self.headers = headers
    }

    /// Sets the body, which is produced as fast as the server reads it.
    ///
    /// - Parameter length: The length in bytes; nil if it is unknown.
    public mutating func setBody(_ chunks: some AsyncSequence<ByteBuffer, any Error> & Sendable, length: Int64?) {
        body = .stream(chunks, length: length.map { .known($0) } ?? .unknown)
    }
}

/// A response whose body is read as it arrives.
public struct OutboundStream: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields.
    public var headers: [(name: String, value: String)]
    /// The body; the server is slowed down to the pace of its reader.
    public var body: OutboundBody
}

/// The body of a response, for one reader; the connection is closed when the reader gives up before its end.
public struct OutboundBody: AsyncSequence, Sendable {
    /// The chunks of a body.
    public typealias Element = ByteBuffer

    /// Reads a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var iterator: HTTPClientResponse.Body.AsyncIterator

        /// Returns the next chunk; nil at the end.
        public mutating func next() async throws -> ByteBuffer? {
            try await iterator.next()
        }
    }

    fileprivate let body: HTTPClientResponse.Body

    /// Makes the reader.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.makeAsyncIterator())
    }
}

/// An HTTP/1.1 client for servers that the operator named, with a pool of connections; bodies are streamed both ways.
///
/// Follows no redirect. Host names are resolved by the system at each new connection.
public final class OutboundStreamClient: Sendable {
    private let client: HTTPClient

    /// Makes a client; it connects with the first request.
    ///
    /// - Parameters:
    ///   - connections: The maximum number of connections to one server.
    ///   - connectTimeout: The time limit for the TCP and TLS handshakes.
    ///   - idleTimeout: The time for which an unused connection stays open; less than the server's.
    ///   - readTimeout: The maximum time between two parts of a response.
    public init(
        connections: Int,
        connectTimeout: TimeAmount,
        idleTimeout: TimeAmount,
        readTimeout: TimeAmount,
        group: any EventLoopGroup
    ) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: connectTimeout, read: readTimeout)
        )
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .http1Only
        configuration.connectionPool = .init(
            idleTimeout: idleTimeout,
            concurrentHTTP1ConnectionsPerHostSoftLimit: connections
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: group, configuration: configuration)
    }

    deinit {
        // Closes the connections without waiting for it; after `shutdown` there are none.
        client.shutdown { _ in }
    }

    /// Closes all connections; requests fail from then on.
    public func shutdown() async {
        // It can only fail because it was called before.
        try? await client.shutdown()
    }

    /// Sends a request, and returns when the head of the response has arrived.
    ///
    /// - Parameter deadline: The time by which the head must have arrived, and all of the request's body been sent.
    public func send(
        _ request: OutboundStreamRequest,
        by deadline: NIODeadline
    ) async throws(OutboundFault) -> OutboundStream {
        var message = HTTPClientRequest(url: request.target.url)
        message.method = HTTPMethod(rawValue: request.method)
        message.headers = HTTPHeaders(request.headers.map { ($0.name, $0.value) })
        if !message.headers.contains(name: "Host") {
            message.headers.add(name: "Host", value: request.target.authority)
        }
        message.body = request.body
        let answer: HTTPClientResponse
        do {
            answer = try await client.execute(message, deadline: deadline)
        } catch {
            throw OutboundFault(error)
        }
        // The following bytes belong to another protocol.
        guard answer.status != .switchingProtocols else { throw .closed }
        return OutboundStream(
            status: Int(answer.status.code),
            headers: answer.headers.map { (name: $0.name, value: $0.value) },
            body: OutboundBody(body: answer.body)
        )
    }
}
