import Egress
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Asks for one asset over HTTP, each on a connection of its own.
///
/// A URL comes from an operator, and so could be used to reach what only this machine reaches: the address that its name
/// leads to must be public, and the connection goes to the very address that was looked at. So does each redirect.
struct AssetFetch: Sendable {
    /// Bytes at most.
    static let mostBytes = 5 << 20
    /// As `mostBytes`, of what was uploaded, which may be sound.
    static let mostUploadedBytes = 20 << 20
    /// Time from the question to the last byte.
    static let deadline = TimeAmount.seconds(5)
    private static let mostRedirects = 3

    /// Whose addresses may be asked.
    var policy = TargetPolicy(allowedPorts: [80, 443, 8080, 8443])

    /// Fetches `url`.
    func fetch(url: String, on loop: any EventLoop) -> EventLoopFuture<ByteBuffer> {
        guard let address = AssetAddress(url: url) else {
            return loop.makeFailedFuture(AssetError(.badAddress, "not an http or https URL"))
        }
        return withDeadline(on: loop) { follow(address, redirects: 0, on: loop, until: $0) }
    }

    /// Fetches what was uploaded to the gateway, where `source` says.
    func fetch(uploaded source: RoomEvents.Source, on loop: any EventLoop) -> EventLoopFuture<ByteBuffer> {
        let address = AssetAddress(isSecure: false, host: source.host, port: source.port, path: source.path)
        return withDeadline(on: loop) { cancelled in
            connect(to: address, on: loop) { bootstrap in bootstrap.connect(host: address.host, port: address.port) }
                .flatMap { channel in
                    ask(channel, address, token: source.token, most: Self.mostUploadedBytes, until: cancelled)
                }
                .flatMapThrowing { answer in try answer.content() }
        }
    }

    /// Fails what `body` does when it takes too long; it is told by a future that then fails.
    private func withDeadline(
        on loop: any EventLoop,
        _ body: (EventLoopFuture<Void>) -> EventLoopFuture<ByteBuffer>
    ) -> EventLoopFuture<ByteBuffer> {
        let timeUp = loop.makePromise(of: Void.self)
        let timer = loop.scheduleTask(in: Self.deadline) {
            timeUp.fail(AssetError(.unreachable, "took too long"))
        }
        // Not every step can be cancelled: what is still under way then ends for nobody.
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
        redirects: Int,
        on loop: any EventLoop,
        until cancelled: EventLoopFuture<Void>
    ) -> EventLoopFuture<ByteBuffer> {
        resolve(address, on: loop)
            .flatMap { resolved in connect(to: address, on: loop) { $0.connect(to: resolved) } }
            .flatMap { ask($0, address, token: nil, most: Self.mostBytes, until: cancelled) }
            .flatMap { answer in
                guard (300..<400).contains(answer.status), let location = answer.location else {
                    return loop.submit { try answer.content() }
                }
                guard redirects < Self.mostRedirects, let next = address.redirected(to: location) else {
                    return loop.makeFailedFuture(AssetError(.badAddress, "redirected to where nobody follows"))
                }
                return follow(next, redirects: redirects + 1, on: loop, until: cancelled)
            }
    }

    /// The address that a name leads to, if it may be asked.
    private func resolve(_ address: AssetAddress, on loop: any EventLoop) -> EventLoopFuture<SocketAddress> {
        NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [policy] in
            guard let resolved = try? SocketAddress.makeAddressResolvingHost(address.host, port: address.port),
                let literal = resolved.ipAddress
            else { throw AssetError(.unreachable, "\(address.host) has no address") }
            guard policy.permits(literal: literal, port: UInt16(clamping: address.port)) else {
                throw AssetError(.forbiddenAddress, "\(address.host) leads to \(literal)")
            }
            return resolved
        }
    }

    private func connect(
        to address: AssetAddress,
        on loop: any EventLoop,
        _ dial: (ClientBootstrap) -> EventLoopFuture<any Channel>
    ) -> EventLoopFuture<any Channel> {
        dial(
            ClientBootstrap(group: loop).connectTimeout(Self.deadline).channelInitializer { channel in
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

    private func ask(
        _ channel: any Channel,
        _ address: AssetAddress,
        token: String?,
        most: Int,
        until cancelled: EventLoopFuture<Void>
    ) -> EventLoopFuture<AssetAnswer> {
        let promise = channel.eventLoop.makePromise(of: AssetAnswer.self)
        cancelled.whenFailure { error in
            promise.fail(error)
            channel.close(promise: nil)
        }
        return channel.eventLoop.submit {
            do {
                try channel.pipeline.syncOperations.addHandler(AssetAnswerHandler(promise, most: most))
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
