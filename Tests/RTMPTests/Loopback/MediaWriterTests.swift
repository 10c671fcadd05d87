import NIOCore
import NIOPosix
import Testing

@testable import RTMP

@Suite("Media writer")
struct MediaWriterTests {
    /// Counts the writes that pass through the pipeline.
    private final class Counter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private(set) var writes = 0

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            writes += 1
            context.write(data, promise: promise)
        }
    }

    /// Passes a writer to `body` when the connection is active.
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
        private let received: ValueRecorder<ByteBuffer>

        init(_ received: ValueRecorder<ByteBuffer>) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { received.append(unwrapInboundIn(data)) }
    }

    /// Runs `body` on the server side of a connection and returns the bytes received at the other side.
    ///
    /// Both sides share one event loop, so nothing is read before `body` returns.
    ///
    /// - Parameter room: The requested socket buffer size in bytes at both ends; by default that of the system, between
    ///   one and ten megabytes.
    private func received(
        _ count: Int,
        isPlain: Bool = true,
        room: ChannelOptions.Types.SocketOption.Value? = nil,
        _ body: @escaping @Sendable (MediaWriter, ChannelHandlerContext, _ passed: () -> Int) -> Void
    ) async throws -> [UInt8] {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let received = ValueRecorder<ByteBuffer>()
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

    @Test("writes directly to the socket while it accepts everything")
    func direct() async throws {
        let bytes = try await received(28) { writer, _, passed in
            writer.send(ByteBuffer(bytes: [1, 2, 3]))
            writer.send(ByteBuffer(bytes: [4, 5, 6]))
            writer.send(contentsOf: [ByteBuffer(bytes: [7, 8]), ByteBuffer(), ByteBuffer(bytes: [9])])
            let writes = passed()
            #expect(writes == 0)
            // More buffers than one system call accepts: the rest goes through the channel.
            writer.send(contentsOf: (UInt8(10)...28).map { ByteBuffer(bytes: [$0]) })
            let more = passed()
            #expect(more == 3)
        }
        #expect(bytes == Array(1...28))
    }

    @Test("writes through the pipeline if a handler transforms the bytes")
    func notPlain() async throws {
        let bytes = try await received(3, isPlain: false) { writer, _, passed in
            writer.send(ByteBuffer(bytes: [1, 2, 3]))
            let writes = passed()
            #expect(writes == 1)
        }
        #expect(bytes == [1, 2, 3])
    }

    @Test("writes through the pipeline after direct writes were disabled, behind earlier bytes")
    func disabled() async throws {
        let bytes = try await received(6) { writer, _, passed in
            writer.send(ByteBuffer(bytes: [1, 2]))
            let before = passed()
            writer.disableDirectWrites()
            #expect(before == 0 && writer.directSocket == nil)
            writer.send(ByteBuffer(bytes: [3]))
            writer.send(contentsOf: [ByteBuffer(bytes: [4, 5]), ByteBuffer(bytes: [6])])
            let writes = passed()
            #expect(writes > 0)
        }
        #expect(bytes == [1, 2, 3, 4, 5, 6])
    }

    @Test("keeps the order of writes when the socket is full")
    func order() async throws {
        let size = 60_000
        let sends = 160
        // The two ends buffer some hundred kilobytes, so most writes find the socket full.
        let bytes = try await received(sends * size, room: 64 * 1024) { writer, context, passed in
            var accepted = 0
            for number in 0..<(sends / 4) {
                func part(_ index: Int) -> ByteBuffer {
                    ByteBuffer(repeating: UInt8(truncatingIfNeeded: number * 4 + index), count: size)
                }
                let before = passed()
                let isFull = writer.directSocket == nil
                writer.send(part(0))
                context.writeAndFlush(NIOAny(part(1)), promise: writer.makeQueuedWritePromise())
                writer.send(contentsOf: [part(2), part(3)])
                // While bytes are pending, nothing bypasses the channel.
                let more = passed() - before
                #expect(more >= (isFull ? 2 : 1), "round \(number): \(more)")
                if !isFull { accepted += 4 }
            }
            let writes = passed()
            #expect(writes > sends * 3 / 4 - 2, "\(writes) passed, \(accepted) were written before the socket was full")
            #expect(!context.channel.isWritable)
        }
        #expect(bytes.count == sends * size)
        let isInOrder = (0..<sends).allSatisfy { number in
            bytes[(number * size)..<((number + 1) * size)].allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }
        }
        #expect(isInOrder)
    }

    /// Records the writability changes of a writer.
    private final class Observer: MediaWriterObserver {
        private(set) var changes: [Bool] = []

        func directSocketChanged() {}
        func writabilityChanged(to isWritable: Bool) { changes.append(isWritable) }
    }

    @Test("keeps the channel's queue short when the socket is full and preserves the order")
    func backlog() async throws {
        let size = 10_000
        let sends = 400
        let changes = ValueRecorder<[Bool]>()
        let bytes = try await received(sends * size + 1, room: 64 * 1024) { writer, context, passed in
            let observer = Observer()
            writer.observer = observer
            for number in 0..<(sends / 2) {
                writer.send(ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: size))
            }
            let sent = passed()
            #expect((1...8).contains(sent), "\(sent) writes")
            #expect(observer.changes == [false])
            #expect(writer.pendingBytes > 1 << 20)
            // A new observer is notified of the current state.
            let second = Observer()
            writer.observer = second
            #expect(second.changes == [false])
            writer.send(
                contentsOf: (sends / 2..<sends).map {
                    ByteBuffer(repeating: UInt8(truncatingIfNeeded: $0), count: size)
                }
            )
            #expect(passed() == sent)
            let bound = NIOLoopBound((writer, second), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: .milliseconds(20)) { Self.wait(for: bound, changes) }
        }
        let isInOrder = (0..<sends).allSatisfy { number in
            bytes[(number * size)..<((number + 1) * size)].allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }
        }
        #expect(bytes.count == sends * size + 1 && isInOrder)
        let reported = await changes.wait(seconds: 1) { !$0.isEmpty }
        #expect(reported == [[false, true]])
    }

    /// Polls until nothing is pending, reports the observed changes, and sends the last byte.
    private static func wait(for bound: NIOLoopBound<(MediaWriter, Observer)>, _ changes: ValueRecorder<[Bool]>) {
        let (writer, observer) = bound.value
        if writer.pendingBytes == 0, writer.directSocket != nil {
            changes.append(observer.changes)
            writer.send(ByteBuffer(bytes: [0]))
        } else {
            bound.eventLoop.scheduleTask(in: .milliseconds(5)) { wait(for: bound, changes) }
        }
    }

    @Test("writes nothing after its end")
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
