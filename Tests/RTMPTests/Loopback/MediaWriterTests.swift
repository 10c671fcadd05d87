import NIOCore
import NIOPosix
import Testing

@testable import RTMP

@Suite("Writing media past the channel")
struct MediaWriterTests {
    /// Counts what comes by on its way to the socket.
    private final class Counter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private(set) var writes = 0

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            writes += 1
            context.write(data, promise: promise)
        }
    }

    /// Gives the body its writer once the connection stands.
    private final class Sender: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let isPlain: Bool
        private let body: (MediaWriter, ChannelHandlerContext) -> Void

        init(isPlain: Bool, _ body: @escaping (MediaWriter, ChannelHandlerContext) -> Void) {
            self.isPlain = isPlain
            self.body = body
        }

        func channelActive(context: ChannelHandlerContext) {
            body(MediaWriter(context, isPlain: isPlain), context)
        }
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let received: Recorder<ByteBuffer>

        init(_ received: Recorder<ByteBuffer>) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { received.append(unwrapInboundIn(data)) }
    }

    /// Runs `body` on a server's end of a connection, and returns the bytes that come out at the other end.
    ///
    /// Both ends are on one event loop: nothing is read before `body` is over.
    ///
    /// - Parameter room: Bytes that the system is asked to keep at either end; as many as it likes when left out, which is
    ///   between one and ten megabytes, by the machine's settings and by what else it does.
    private func received(
        _ count: Int,
        isPlain: Bool = true,
        room: ChannelOptions.Types.SocketOption.Value? = nil,
        _ body: @escaping @Sendable (MediaWriter, ChannelHandlerContext, _ passed: () -> Int) -> Void
    ) async throws -> [UInt8] {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let received = Recorder<ByteBuffer>()
        var bootstrap = ServerBootstrap(group: group).childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        var clientBootstrap = ClientBootstrap(group: group)
        if let room {
            bootstrap = bootstrap.childChannelOption(.socketOption(.so_sndbuf), value: room)
            clientBootstrap = clientBootstrap.channelOption(.socketOption(.so_rcvbuf), value: room)
        }
        let server =
            try await bootstrap
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let counter = Counter()
                    let sender = Sender(isPlain: isPlain) { writer, context in body(writer, context) { counter.writes }
                    }
                    try channel.pipeline.syncOperations.addHandlers([counter, sender])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let client =
            try await clientBootstrap
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(received))
                }
            }
            .connect(host: "127.0.0.1", port: try #require(server.localAddress?.port)).get()
        let buffers = await received.wait(seconds: 5) { $0.reduce(0) { $0 + $1.readableBytes } >= count }
        try await client.close()
        try await server.close()
        try await group.shutdownGracefully()
        return buffers.flatMap { Array($0.readableBytesView) }
    }

    @Test("While the socket takes everything, nothing passes the pipeline")
    func straight() async throws {
        let bytes = try await received(28) { writer, _, passed in
            writer.send(ByteBuffer(bytes: [1, 2, 3]))
            writer.send(ByteBuffer(bytes: [4, 5, 6]))
            writer.send(contentsOf: [ByteBuffer(bytes: [7, 8]), ByteBuffer(), ByteBuffer(bytes: [9])])
            let writes = passed()
            #expect(writes == 0)
            // More than go into one call: the rest is the channel's.
            writer.send(contentsOf: (UInt8(10)...28).map { ByteBuffer(bytes: [$0]) })
            let more = passed()
            #expect(more == 3)
        }
        #expect(bytes == Array(1...28))
    }

    @Test("Where a handler changes the bytes, all of them pass it")
    func notPlain() async throws {
        let bytes = try await received(3, isPlain: false) { writer, _, passed in
            writer.send(ByteBuffer(bytes: [1, 2, 3]))
            let writes = passed()
            #expect(writes == 1)
        }
        #expect(bytes == [1, 2, 3])
    }

    @Test("What the socket does not take keeps its place among all that is written")
    func order() async throws {
        let size = 60_000
        let sends = 160
        // What the two ends hold is some hundred kilobytes, so that nearly all of it comes when the socket is full.
        let bytes = try await received(sends * size, room: 64 * 1024) { writer, context, passed in
            var taken = 0
            for number in 0..<(sends / 4) {
                func part(_ index: Int) -> ByteBuffer {
                    ByteBuffer(repeating: UInt8(truncatingIfNeeded: number * 4 + index), count: size)
                }
                let before = passed()
                let isFull = writer.straightSocket == nil
                writer.send(part(0))
                context.writeAndFlush(NIOAny(part(1)), promise: writer.nextInQueue())
                writer.send(contentsOf: [part(2), part(3)])
                // Behind what waits nothing goes past the channel, whatever the socket takes meanwhile.
                let more = passed() - before
                #expect(more >= (isFull ? 2 : 1), "round \(number): \(more)")
                if !isFull { taken += 4 }
            }
            let writes = passed()
            #expect(writes > sends * 3 / 4 - 2, "\(writes) passed, \(taken) came before the socket was full")
            #expect(!context.channel.isWritable)
        }
        #expect(bytes.count == sends * size)
        let isInOrder = (0..<sends).allSatisfy { number in
            bytes[(number * size)..<((number + 1) * size)].allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }
        }
        #expect(isInOrder)
    }

    /// Keeps what a writer says of its peer.
    private final class Watcher: MediaWriterWatching {
        private(set) var takes: [Bool] = []

        func straightSocketChanged() {}
        func writabilityChanged(to isWritable: Bool) { takes.append(isWritable) }
    }

    @Test("What the socket does not take hardly lengthens the channel's queue, and is sent in its order")
    func backlog() async throws {
        let size = 10_000
        let sends = 400
        let takes = Recorder<[Bool]>()
        let bytes = try await received(sends * size + 1, room: 64 * 1024) { writer, context, passed in
            let watcher = Watcher()
            writer.watcher = watcher
            for number in 0..<(sends / 2) {
                writer.send(ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: size))
            }
            let sent = passed()
            #expect((1...8).contains(sent), "\(sent) writes")
            #expect(watcher.takes == [false])
            #expect(writer.waitingBytes > 1 << 20)
            // Whoever comes to look at it later is told as well.
            let second = Watcher()
            writer.watcher = second
            #expect(second.takes == [false])
            writer.send(
                contentsOf: (sends / 2..<sends).map {
                    ByteBuffer(repeating: UInt8(truncatingIfNeeded: $0), count: size)
                }
            )
            #expect(passed() == sent)
            let bound = NIOLoopBound((writer, second), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: .milliseconds(20)) { Self.wait(for: bound, takes) }
        }
        let isInOrder = (0..<sends).allSatisfy { number in
            bytes[(number * size)..<((number + 1) * size)].allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }
        }
        #expect(bytes.count == sends * size + 1 && isInOrder)
        let told = await takes.wait(seconds: 1) { !$0.isEmpty }
        #expect(told == [[false, true]])
    }

    /// Looks until nothing waits any more, tells what the watcher was told by then, and sends the last byte.
    private static func wait(for bound: NIOLoopBound<(MediaWriter, Watcher)>, _ takes: Recorder<[Bool]>) {
        let (writer, watcher) = bound.value
        if writer.waitingBytes == 0, writer.straightSocket != nil {
            takes.append(watcher.takes)
            writer.send(ByteBuffer(bytes: [0]))
        } else {
            bound.eventLoop.scheduleTask(in: .milliseconds(5)) { wait(for: bound, takes) }
        }
    }

    @Test("A writer that was ended writes nothing more")
    func ended() async throws {
        let bytes = try await received(1) { writer, _, passed in
            writer.send(ByteBuffer(bytes: [7]))
            writer.end()
            writer.send(ByteBuffer(bytes: [8]))
            writer.send(contentsOf: [ByteBuffer(bytes: [9])])
            let writes = passed()
            #expect(writes == 0)
        }
        #expect(bytes == [7])
    }
}
