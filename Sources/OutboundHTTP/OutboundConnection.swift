import AsyncHTTPClient
import Foundation
public import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A request without its target.
public struct OutboundRequest: Sendable {
    /// The method.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// The method.
    public var method: Method
    /// Header fields besides `Host` and those that describe the length of the body.
    public var headers: [(name: String, value: String)]
    /// The body, if any.
    public var body: ByteBuffer?
    /// The maximum size of the response's body in bytes.
    public var responseLimit: Int

    /// Makes a request from its parts.
    public init(
        _ method: Method,
        headers: [(name: String, value: String)],
        body: ByteBuffer? = nil,
        responseLimit: Int
    ) {
        self.method = method
        self.headers = headers
        self.body = body
        self.responseLimit = responseLimit
    }
}

/// A response, of which at least the head has arrived.
public struct OutboundResponse: Sendable {
    /// The extent to which the body was read.
    public enum Ending: Sendable, Equatable {
        case complete
        /// The body exceeds the limit.
        case tooLarge
        /// The body ended early.
        case failed(OutboundFault)
    }

    /// The status code.
    public var status: Int
    /// The value of `Location`.
    public var location: String?
    /// The value of `Retry-After`.
    public var retryAfter: String?
    /// The body, as far as it was read.
    public var body = ByteBuffer()
    /// The extent to which the body was read.
    public var ending = Ending.complete
    /// Whether the server keeps the connection open for a further request.
    public var isReusable: Bool
}

/// The reason why there is no response.
public enum OutboundFault: Error, Sendable, Equatable {
    /// The response did not arrive in time.
    case timedOut
    /// The connection could not be made in time.
    case connectTimedOut
    /// The connection could not be made.
    case unreachable
    /// The connection was closed, or the server does not speak HTTP.
    case closed
    /// The TLS handshake failed.
    case tls
    /// The target is not a valid URL, or the address is not that of its literal host.
    case malformed
}

/// An HTTP/1.1 client for one target, which connects to one IP address and no other.
///
/// The client resolves no name and follows no redirect: the caller resolves and checks the host, and passes the address
/// that it checked. So a name that is resolved a second time to an internal address has no effect. `Host`, and with TLS
/// the server's name and certificate, are those of the target. The connection is closed when the last reference is
/// released; one that the server closed meanwhile is opened again, to the same address.
public final class OutboundConnection: Sendable {
    /// The target of all requests.
    public let target: OutboundTarget
    private let client: HTTPClient

    /// Makes a client; it connects with the first request.
    ///
    /// - Parameters:
    ///   - address: The checked IP address.
    ///   - connectTimeout: The time limit for the TCP and TLS handshakes.
    /// - Throws: `malformed`.
    public init(
        to target: OutboundTarget,
        at address: String,
        connectTimeout: TimeAmount,
        group: any EventLoopGroup
    ) throws(OutboundFault) {
        guard Self.leads(target, to: address) else { throw .malformed }
        self.target = target
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: connectTimeout)
        )
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.dnsOverride = [target.host.lowercased(): address]
        client = HTTPClient(eventLoopGroup: group, configuration: configuration)
    }

    deinit {
        // Closes the connection without waiting for it; there is no error to handle.
        client.shutdown { _ in }
    }

    /// Whether a client with an override of the target's host connects to `address`.
    ///
    /// The host as the client parses it must be the one that is overridden, or the client would resolve it. A literal
    /// address is connected to as it is.
    static func leads(_ target: OutboundTarget, to address: String) -> Bool {
        guard let checked = try? SocketAddress(ipAddress: address, port: target.port),
            target.path.hasPrefix("/"), let url = URL(string: target.url), let host = url.host,
            url.port ?? (target.isSecure ? 443 : 80) == target.port
        else { return false }
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard !name.isEmpty, name == target.host.lowercased() else { return false }
        if let literal = try? SocketAddress(ipAddress: name, port: target.port) { return literal == checked }
        return !name.contains(":")
    }

    /// Sends a request, and reads the response up to the request's limit.
    ///
    /// If the response's head has arrived, a failure to read its body is part of the result.
    public func send(
        _ request: OutboundRequest,
        by deadline: NIODeadline
    ) async throws(OutboundFault) -> OutboundResponse {
        var message = HTTPClientRequest(url: target.url)
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        message.headers = HTTPHeaders(request.headers.map { ($0.name, $0.value) })
        message.headers.replaceOrAdd(name: "Host", value: target.authority)
        message.body = request.body.map { .bytes($0) }
        let answer: HTTPClientResponse
        do {
            answer = try await client.execute(message, deadline: deadline)
        } catch {
            throw OutboundFault(error)
        }
        // The following bytes belong to another protocol.
        guard answer.status != .switchingProtocols else { throw .closed }
        let head = HTTPResponseHead(version: answer.version, status: answer.status, headers: answer.headers)
        var response = OutboundResponse(
            status: Int(answer.status.code),
            location: answer.headers.first(name: "Location"),
            retryAfter: answer.headers.first(name: "Retry-After"),
            isReusable: head.isKeepAlive
        )
        let length = answer.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        if length > request.responseLimit {
            response.ending = .tooLarge
        } else {
            (response.body, response.ending) = await Self.read(answer.body, upTo: request.responseLimit, by: deadline)
        }
        // The rest of an unread body is not awaited; releasing it closes the connection.
        if response.ending != .complete { response.isReusable = false }
        return response
    }

    /// Reads a body; the client's own deadline ends with the response's head.
    private static func read(
        _ body: HTTPClientResponse.Body,
        upTo limit: Int,
        by deadline: NIODeadline
    ) async -> (ByteBuffer, OutboundResponse.Ending) {
        await withTaskGroup { group in
            group.addTask { await read(body, upTo: limit) }
            group.addTask {
                // Cancelled when the body has been read.
                try? await Task.sleep(for: .nanoseconds(max(deadline - .now(), .zero).nanoseconds))
                return (ByteBuffer(), .failed(.timedOut))
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? (ByteBuffer(), .failed(.timedOut))
        }
    }

    private static func read(
        _ body: HTTPClientResponse.Body,
        upTo limit: Int
    ) async -> (ByteBuffer, OutboundResponse.Ending) {
        var bytes = ByteBuffer()
        do {
            for try await part in body {
                guard bytes.readableBytes + part.readableBytes <= limit else { return (bytes, .tooLarge) }
                bytes.writeImmutableBuffer(part)
            }
            return (bytes, .complete)
        } catch {
            return (bytes, .failed(OutboundFault(error)))
        }
    }
}

extension OutboundConnection {
    /// The maximum number of addresses tried per host.
    private static let addressLimit = 3

    /// Sends a request over a new connection to the first of the checked addresses that accepts one.
    ///
    /// Each address gets an equal share of the remaining time to connect.
    ///
    /// - Returns: The response and the connection.
    public static func send(
        _ request: OutboundRequest,
        to target: OutboundTarget,
        at addresses: [String],
        group: any EventLoopGroup,
        by deadline: NIODeadline
    ) async throws(OutboundFault) -> (response: OutboundResponse, connection: OutboundConnection) {
        let candidates = addresses.prefix(addressLimit)
        var fault = OutboundFault.unreachable
        for (index, address) in candidates.enumerated() {
            let share = max(deadline - .now(), .zero).nanoseconds / Int64(candidates.count - index)
            let connection = try OutboundConnection(
                to: target,
                at: address,
                connectTimeout: .nanoseconds(max(share, 1_000_000)),
                group: group
            )
            do throws(OutboundFault) {
                return (try await connection.send(request, by: deadline), connection)
            } catch .unreachable {
                fault = .unreachable
            } catch .connectTimedOut {
                fault = .connectTimedOut
            }
        }
        throw fault
    }
}

extension OutboundFault {
    /// Translates an error of the client.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPClientError: self.init(error)
        case ChannelError.connectTimeout: self = .connectTimedOut
        // None of the addresses of a name that the client resolved.
        case is NIOConnectionError: self = .unreachable
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: self = .tls
        case let error as IOError: self = [ECONNRESET, EPIPE].contains(error.errnoCode) ? .closed : .unreachable
        default: self = .closed
        }
    }

    private init(_ error: HTTPClientError) {
        switch error {
        case .deadlineExceeded, .readTimeout: self = .timedOut
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout: self = .connectTimedOut
        case .invalidURL, .emptyHost: self = .malformed
        default: self = .closed
        }
    }
}
