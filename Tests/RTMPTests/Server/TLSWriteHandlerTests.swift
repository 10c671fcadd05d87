import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import RTMP

@Suite("Writes ahead of a TLS handler")
struct TLSWriteHandlerTests {
    private let channel = EmbeddedChannel()

    init() throws {
        try channel.pipeline.syncOperations.addHandler(TLSWriteHandler())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func buffer(_ count: Int, of byte: UInt8 = 1) -> ByteBuffer { ByteBuffer(repeating: byte, count: count) }

    /// Writes buffers without a flush.
    private func write(_ buffers: ByteBuffer...) {
        for buffer in buffers { channel.write(buffer, promise: nil) }
    }

    /// Returns the writes that reached the TLS handler since the last call.
    private func written() throws -> [ByteBuffer] {
        var found: [ByteBuffer] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { found.append(buffer) }
        return found
    }

    @Test("joins the writes between two flushes, and those after a flush are not joined with earlier ones")
    func joins() throws {
        write(ByteBuffer(string: "head"), ByteBuffer(string: "body"), ByteBuffer(string: "end"))
        #expect(try written().isEmpty)
        channel.flush()
        #expect(try written() == [ByteBuffer(string: "headbodyend")])
        write(ByteBuffer(string: "next"))
        channel.flush()
        channel.flush()
        #expect(try written() == [ByteBuffer(string: "next")])
    }

    @Test("does not copy a write without another one, nor one that fills a record")
    func noCopies() throws {
        func address(_ buffer: ByteBuffer?) -> UnsafeRawPointer? {
            buffer?.withUnsafeReadableBytes { $0.baseAddress }
        }
        let (small, large) = (buffer(100), buffer(50_000))
        write(small)
        channel.flush()
        #expect(try address(written().first) == address(small))
        write(large)
        channel.flush()
        #expect(try address(written().first) == address(large))
    }

    @Test("fills a record with the start of a large write and passes the rest on as it is")
    func large() throws {
        write(buffer(100, of: 1), buffer(40_000, of: 2), buffer(30, of: 3))
        channel.flush()
        let found = try written()
        #expect(found.map(\.readableBytes) == [16_384, 40_000 - 16_284, 30])
        let record = [UInt8](repeating: 1, count: 100) + [UInt8](repeating: 2, count: 16_284)
        #expect(found.first == ByteBuffer(bytes: record))
    }

    @Test("joins frames of the largest usual size to full records")
    func frames() throws {
        for _ in 0..<4 { write(buffer(9), buffer(16_384)) }
        channel.flush()
        #expect(try written().map(\.readableBytes) == [16_384, 16_384, 16_384, 16_384, 4 * 9])
    }

    @Test("completes the promises of joined writes in their order, when the joined one is written")
    func promises() throws {
        let hold = HoldHandler()
        try channel.pipeline.syncOperations.addHandler(hold, position: .first)
        var completed: [Int] = []
        for number in 0..<3 {
            let promise = channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess { completed.append(number) }
            channel.write(buffer(10), promise: promise)
        }
        channel.flush()
        #expect(completed.isEmpty && hold.promises.count == 1)
        for promise in hold.promises { promise?.succeed() }
        #expect(completed == [0, 1, 2])
    }

    @Test("passes unflushed writes on before a close")
    func close() throws {
        let hold = HoldHandler()
        try channel.pipeline.syncOperations.addHandler(hold, position: .first)
        write(buffer(10), buffer(10))
        #expect(hold.promises.isEmpty)
        channel.close(mode: .output, promise: nil)
        #expect(hold.promises.count == 1)
    }

    @Test("fails the writes that are left when it is removed")
    func removed() throws {
        var failures = 0
        for _ in 0..<2 {
            let promise = channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenFailure { error in
                if error as? ChannelError == .ioOnClosedChannel { failures += 1 }
            }
            channel.write(buffer(10), promise: promise)
        }
        let context = try channel.pipeline.syncOperations.context(handlerType: TLSWriteHandler.self)
        (context.handler as? TLSWriteHandler)?.handlerRemoved(context: context)
        #expect(failures == 2)
        channel.flush()
        #expect(try written().isEmpty)
    }

    @Test("passes the same bytes on, in writes of at most a record or uncopied", arguments: 0..<4)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var expected = ByteBuffer()
        var next: UInt8 = 0
        for _ in 0..<200 {
            if Int.random(in: 0..<5, using: &random) == 0 {
                channel.flush()
                continue
            }
            let largest = [0, 20, 2_000, 16_384, 16_385, 60_000][Int.random(in: 0..<6, using: &random)]
            let bytes = (0..<Int.random(in: 0...largest, using: &random)).map { _ in
                next &+= 1
                return next
            }
            expected.writeBytes(bytes)
            write(ByteBuffer(bytes: bytes))
        }
        channel.flush()
        var found = ByteBuffer()
        for buffer in try written() { found.writeImmutableBuffer(buffer) }
        #expect(found == expected)
    }
}

/// Holds the promises of writes back, as a socket without space does.
private final class HoldHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var promises: [EventLoopPromise<Void>?] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        promises.append(promise)
    }
}
