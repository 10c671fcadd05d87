import Assets
import Egress
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Stage

/// Fetches assets over HTTP, each on a connection of its own.
///
/// URLs come from operators or, for avatars, from any participant, so that they could be used for server-side request
/// forgery: all addresses of a host name must be public unless the caller allows private ones, and the connection uses
/// a checked address. The same holds for each redirect. The gateway's own ports are never allowed.
struct AssetFetcher: Sendable {
    /// Returns the timeout of a fetch, which is longer for larger kinds.
    static func deadline(of kind: Asset.Kind) -> TimeAmount {
        switch kind {
        case .image: .seconds(5)
        case .sound: .seconds(30)
        }
    }

    private static let maximumRedirects = 3
    /// The timeout of name resolution and of connecting, in seconds.
    private static let networkTimeout = 5

    /// The rules for target addresses.
    private let targets: TargetResolver

    /// - Parameters:
    ///   - allowsPrivateAddresses: Whether private and loopback addresses are allowed, on any port.
    ///   - ownPorts: The gateway's own ports.
    init(allowsPrivateAddresses: Bool = false, ownPorts: Set<UInt16> = []) {
        targets = TargetResolver(
            TargetPolicy(
                allowsPrivateAddresses: allowsPrivateAddresses,
                allowedPorts: [80, 443, 8080, 8443],
                ownPorts: ownPorts
            )
        )
    }

    /// Fetches a URL, up to the size limit of uploads.
    func fetch(url: String, _ kind: Asset.Kind = .image, on loop: any EventLoop) -> EventLoopFuture<ByteBuffer> {
        guard let address = AssetAddress(url: url) else {
            return loop.makeFailedFuture(AssetError(.badAddress, "not an http or https URL"))
        }
        return withDeadline(Self.deadline(of: kind), on: loop) { cancelled in
            follow(address, kind, redirects: 0, on: loop, until: cancelled)
        }
    }

    /// Fetches an uploaded asset, or one that the gateway fetches in turn, from `source`.
    ///
    /// - Parameter reserve: Time in addition to the timeout of its kind.
    func fetch(
        uploaded source: RoomEventSubscription.Source,
        _ kind: Asset.Kind,
        reserve: TimeAmount = .zero,
        on loop: any EventLoop
    ) -> EventLoopFuture<ByteBuffer> {
        let address = AssetAddress(isSecure: false, host: source.host, port: source.port, path: source.path)
        return withDeadline(Self.deadline(of: kind) + reserve, on: loop) { cancelled in
            connect(to: address, on: loop) { bootstrap in bootstrap.connect(host: address.host, port: address.port) }
                .flatMap { channel in
                    request(channel, address, token: source.token, limit: AssetStore.limit(of: kind), until: cancelled)
                }
                .flatMapThrowing { response in try response.content() }
        }
    }

    /// Fails `body` after the deadline; the future that `body` receives fails then.
    private func withDeadline(
        _ deadline: TimeAmount,
        on loop: any EventLoop,
        _ body: (EventLoopFuture<Void>) -> EventLoopFuture<ByteBuffer>
    ) -> EventLoopFuture<ByteBuffer> {
        let timeUp = loop.makePromise(of: Void.self)
        let timer = loop.scheduleTask(in: deadline) {
            timeUp.fail(AssetError(.unreachable, "took too long"))
        }
        // Not every step can be cancelled; the result of a late one is ignored.
        let outcome = loop.makePromise(of: ByteBuffer.self)
        timeUp.futureResult.whenFailure { outcome.fail($0) }
        body(timeUp.futureResult).cascade(to: outcome)
        outcome.futureResult.whenComplete { _ in
            timer.cancel()
            timeUp.succeed()
        }
        return outcome.futureResult
    }

    private func follow(
        _ address: AssetAddress,
        _ kind: Asset.Kind,
        redirects: Int,
        on loop: any EventLoop,
        until cancelled: EventLoopFuture<Void>
    ) -> EventLoopFuture<ByteBuffer> {
        resolve(address, on: loop)
            .flatMap { connect(to: address, at: $0[...], on: loop) }
            .flatMap { request($0, address, token: nil, limit: AssetStore.limit(of: kind), until: cancelled) }
            .flatMap { response in
                guard (300..<400).contains(response.status), let location = response.location else {
                    return loop.submit { try response.content() }
                }
                guard redirects < Self.maximumRedirects, let next = address.redirected(to: location) else {
                    return loop.makeFailedFuture(AssetError(.badAddress, "the redirect must not be followed"))
                }
                return follow(next, kind, redirects: redirects + 1, on: loop, until: cancelled)
            }
    }

    /// Resolves a host name; fails unless all its addresses are allowed.
    private func resolve(_ address: AssetAddress, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        loop.makeFutureWithTask { [targets] in
            do {
                let port = UInt16(clamping: address.port)
                let timeout = Double(Self.networkTimeout)
                let found = try await targets.addresses(of: address.host, port: port, within: timeout)
                return try found.map { try SocketAddress(ipAddress: $0, port: address.port) }
            } catch let error as PushError {
                throw AssetError(error.code == .forbiddenAddress ? .forbiddenAddress : .unreachable, error.message)
            }
        }
    }

    /// Connects to the first address that accepts.
    private func connect(
        to address: AssetAddress,
        at addresses: ArraySlice<SocketAddress>,
        on loop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        guard let first = addresses.first else {
            return loop.makeFailedFuture(AssetError(.unreachable, "\(address.host) has no address"))
        }
        return connect(to: address, on: loop) { $0.connect(to: first) }.flatMapError { error in
            let others = addresses.dropFirst()
            return others.isEmpty ? loop.makeFailedFuture(error) : connect(to: address, at: others, on: loop)
        }
    }

    private func connect(
        to address: AssetAddress,
        on loop: any EventLoop,
        _ dial: (ClientBootstrap) -> EventLoopFuture<any Channel>
    ) -> EventLoopFuture<any Channel> {
        let timeout = TimeAmount.seconds(Int64(Self.networkTimeout))
        return dial(
            ClientBootstrap(group: loop).connectTimeout(timeout).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if address.isSecure {
                        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
                        let isName = (try? SocketAddress(ipAddress: address.host, port: 0)) == nil
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: context, serverHostname: isName ? address.host : nil)
                        )
                    }
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                }
            }
        )
    }

    private func request(
        _ channel: any Channel,
        _ address: AssetAddress,
        token: String?,
        limit: Int,
        until cancelled: EventLoopFuture<Void>
    ) -> EventLoopFuture<AssetResponse> {
        let promise = channel.eventLoop.makePromise(of: AssetResponse.self)
        cancelled.whenFailure { error in
            promise.fail(error)
            channel.close(promise: nil)
        }
        return channel.eventLoop.submit {
            do {
                try channel.pipeline.syncOperations.addHandler(AssetResponseHandler(promise, limit: limit))
            } catch {
                promise.fail(error)
                throw error
            }
        }.flatMap {
            var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.path)
            head.headers.add(name: "Host", value: address.authority)
            head.headers.add(name: "User-Agent", value: "Footlight")
            head.headers.add(name: "Accept", value: "*/*")
            head.headers.add(name: "Connection", value: "close")
            if let token { head.headers.add(name: "Authorization", value: "Bearer \(token)") }
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
            return promise.futureResult
        }
    }
}

/// The address of an asset on an HTTP server.
struct AssetAddress: Equatable, Sendable {
    var isSecure: Bool
    var host: String
    var port: Int
    /// The path with the query; starts with a slash.
    var path: String

    init(isSecure: Bool, host: String, port: Int, path: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// Parses an `http` or `https` URL without user information; nil for others.
    init?(url: String) {
        guard url.utf8.count <= 2048, let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.password == nil
        else { return nil }
        switch parts.scheme?.lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { return nil }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        self.path = parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path
    }

    /// Returns the target of a redirect; nil if it must not be followed.
    func redirected(to location: String) -> AssetAddress? {
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            return AssetAddress(isSecure: isSecure, host: host, port: port, path: location)
        }
        guard let next = AssetAddress(url: location), next.isSecure || !isSecure else { return nil }
        return next
    }

    /// The value of the `Host` header.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}

/// The response of an HTTP server.
struct AssetResponse: Sendable {
    var status: Int
    var location: String?
    var body = ByteBuffer()

    /// Returns the body of a successful response.
    ///
    /// - Throws: `AssetError` for any other status.
    func content() throws -> ByteBuffer {
        guard status == 200 else {
            // These statuses are temporary.
            let isTemporary = status == 429 || status >= 500
            throw AssetError(isTemporary ? .unreachable : .refused, "status \(status)")
        }
        return body
    }
}

/// Collects one response up to a size limit, and closes the connection.
final class AssetResponseHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<AssetResponse>
    private let limit: Int
    private var response: AssetResponse?

    init(_ promise: EventLoopPromise<AssetResponse>, limit: Int) {
        self.promise = promise
        self.limit = limit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            response = AssetResponse(status: Int(head.status.code), location: head.headers.first(name: "Location"))
            let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            if length > limit { refuse(context) }
        case .body(var bytes):
            guard (response?.body.readableBytes ?? 0) + bytes.readableBytes <= limit else { return refuse(context) }
            response?.body.writeBuffer(&bytes)
        case .end:
            if let response { promise.succeed(response) }
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // No effect after success.
        promise.fail(AssetError(.unreachable, "the connection is gone"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(AssetError(.unreachable, "\(error)"))
        context.close(promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext) {
        promise.fail(AssetError(.tooLarge, "more than \(limit) bytes"))
        context.close(promise: nil)
    }
}

/// An error of an asset fetch.
struct AssetError: Error, Equatable, CustomStringConvertible {
    enum Code: Equatable {
        /// The URL is not supported.
        case badAddress
        /// The host resolves to a forbidden address.
        case forbiddenAddress
        /// The server refused the request.
        case refused
        /// The content exceeds the size limit.
        case tooLarge
        /// The request timed out, or the connection failed.
        case unreachable
    }

    let code: Code
    let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason, for the log.
    var description: String { reason }

    /// Whether a prompt retry would fail the same way.
    var isFinal: Bool { code != .unreachable }
}
