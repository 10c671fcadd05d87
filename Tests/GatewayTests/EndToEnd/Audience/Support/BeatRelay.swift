import NIOCore
import NIOPosix
import Synchronization

/// Stands on the way of the lines that an nginx sends by syslog: reads them along, and loses some.
final class BeatRelay: Sendable {
    struct Passed: Sendable {
        /// Lines that came.
        var lines = 0
        /// Lines that went no further.
        var lost = 0
        /// Lines by what the cache had: `HIT`, `MISS`, `EXPIRED` and so on.
        var byCache: [String: Int] = [:]

        /// Requests for which nginx had to ask the gateway.
        var reachedGateway: Int { lines - ["HIT", "STALE", "UPDATING"].reduce(0) { $0 + (byCache[$1] ?? 0) } }
    }

    /// One in how many lines is lost; none when nil, all when 1.
    private struct State {
        var passed = Passed()
        var loss: Int?

        /// Whether the line goes on.
        mutating func take(_ line: String) -> Bool {
            passed.lines += 1
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\n" })
            // SID URI STATUS BYTES SECONDS CACHE, and perhaps a word behind them.
            if let place = words.firstIndex(where: { $0.hasPrefix("/live/") }), words.count > place + 4 {
                passed.byCache[String(words[place + 4]), default: 0] += 1
            }
            guard let loss, passed.lines.isMultiple(of: loss) else { return true }
            passed.lost += 1
            return false
        }
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        private let shared: Shared
        private let target: SocketAddress

        init(_ shared: Shared, _ target: SocketAddress) {
            self.shared = shared
            self.target = target
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let line = unwrapInboundIn(data).data
            guard shared.state.withLock({ $0.take(String(buffer: line)) }) else { return }
            context.writeAndFlush(wrapOutboundOut(AddressedEnvelope(remoteAddress: target, data: line)), promise: nil)
        }
    }

    /// Where nginx sends its lines.
    let port: Int
    private let shared: Shared
    private let channel: any Channel

    /// - Parameter gatewayPort: Where the lines go on to.
    init(to gatewayPort: Int, group: any EventLoopGroup) async throws {
        let shared = Shared()
        let target = try SocketAddress(ipAddress: "127.0.0.1", port: gatewayPort)
        self.shared = shared
        channel = try await DatagramBootstrap(group: group)
            .channelOption(.socketOption(.so_rcvbuf), value: 4 * 1024 * 1024)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(shared, target))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    var passed: Passed { shared.state.withLock { $0.passed } }

    /// Loses one in so many lines from now on; nil loses none.
    func lose(oneIn number: Int?) {
        shared.state.withLock { $0.loss = number }
    }

    func close() async throws {
        try await channel.close()
    }
}
