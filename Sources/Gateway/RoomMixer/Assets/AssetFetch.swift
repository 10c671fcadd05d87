import Assets
import Egress
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Stage

/// Asks for one asset over HTTP, each on a connection of its own.
///
/// A URL comes from an operator or, as that of an avatar, from any participant, and so could be used to reach what only
/// this machine reaches: all addresses that its name leads to must be public, unless the caller allows private ones, and the
/// connection goes to one that was looked at. So does each redirect. The gateway's own ports are never asked.
struct AssetFetch: Sendable {
    /// Time from the question to the last byte; what may be larger may take longer.
    static func deadline(of kind: Asset.Kind) -> TimeAmount {
        switch kind {
        case .image: .seconds(5)
        case .sound: .seconds(30)
        }
    }

    private static let mostRedirects = 3
    /// Seconds to look a name up in, and to connect.
    private static let patience = 5

    /// Whose addresses may be asked.
    private let targets: TargetGuard

    /// - Parameters:
    ///   - allowsPrivateAddresses: Whether private and loopback addresses may be asked, on any port.
    ///   - ownPorts: The gateway's own.
    init(allowsPrivateAddresses: Bool = false, ownPorts: Set<UInt16> = []) {
        targets = TargetGuard(
            TargetPolicy(
                allowsPrivateAddresses: allowsPrivateAddresses,
                allowedPorts: [80, 443, 8080, 8443],
                ownPorts: ownPorts
            )
        )
    }

    /// Fetches `url`; as large as what is uploaded may be.
    func fetch(url: String, _ kind: Asset.Kind = .image, on loop: any EventLoop) -> EventLoopFuture<ByteBuffer> {
        guard let address = AssetAddress(url: url) else {
            return loop.makeFailedFuture(AssetError(.badAddress, "not an http or https URL"))
        }
        return withDeadline(Self.deadline(of: kind), on: loop) { cancelled in
            follow(address, kind, redirects: 0, on: loop, until: cancelled)
        }
    }

    /// Fetches what was uploaded to the gateway, or what it fetches in turn, where `source` says.
    ///
    /// - Parameter reserve: Time on top of the deadline of its kind.
    func fetch(
        uploaded source: RoomEvents.Source,
        _ kind: Asset.Kind,
        reserve: TimeAmount = .zero,
        on loop: any EventLoop
    ) -> EventLoopFuture<ByteBuffer> {
        let address = AssetAddress(isSecure: false, host: source.host, port: source.port, path: source.path)
        return withDeadline(Self.deadline(of: kind) + reserve, on: loop) { cancelled in
            connect(to: address, on: loop) { bootstrap in bootstrap.connect(host: address.host, port: address.port) }
                .flatMap { channel in
                    ask(channel, address, token: source.token, most: AssetStore.limit(of: kind), until: cancelled)
                }
                .flatMapThrowing { answer in try answer.content() }
        }
    }

    /// Fails what `body` does when it takes too long; it is told by a future that then fails.
    private func withDeadline(
        _ deadline: TimeAmount,
        on loop: any EventLoop,
        _ body: (EventLoopFuture<Void>) -> EventLoopFuture<ByteBuffer>
    ) -> EventLoopFuture<ByteBuffer> {
        let timeUp = loop.makePromise(of: Void.self)
        let timer = loop.scheduleTask(in: deadline) {
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
        _ kind: Asset.Kind,
        redirects: Int,
        on loop: any EventLoop,
        until cancelled: EventLoopFuture<Void>
    ) -> EventLoopFuture<ByteBuffer> {
        resolve(address, on: loop)
            .flatMap { connect(to: address, at: $0[...], on: loop) }
            .flatMap { ask($0, address, token: nil, most: AssetStore.limit(of: kind), until: cancelled) }
            .flatMap { answer in
                guard (300..<400).contains(answer.status), let location = answer.location else {
                    return loop.submit { try answer.content() }
                }
                guard redirects < Self.mostRedirects, let next = address.redirected(to: location) else {
                    return loop.makeFailedFuture(AssetError(.badAddress, "redirected to where nobody follows"))
                }
                return follow(next, kind, redirects: redirects + 1, on: loop, until: cancelled)
            }
    }

    /// The addresses that a name leads to, if all of them may be asked.
    private func resolve(_ address: AssetAddress, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        loop.makeFutureWithTask { [targets] in
            do {
                let port = UInt16(clamping: address.port)
                let found = try await targets.addresses(of: address.host, port: port, within: Double(Self.patience))
                return try found.map { try SocketAddress(ipAddress: $0, port: address.port) }
            } catch let error as PushError {
                throw AssetError(error.code == .forbiddenAddress ? .forbiddenAddress : .unreachable, error.message)
            }
        }
    }

    /// Connects to the first of the addresses that answers.
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
        dial(
            ClientBootstrap(group: loop).connectTimeout(.seconds(Int64(Self.patience))).channelInitializer { channel in
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
