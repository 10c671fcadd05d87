import NIOCore
import NIOPosix

@testable import RTMP

/// A TCP connection that sends given bytes and collects what comes back.
final class RawPeer: Sendable {
    private let channel: any Channel
    private let received = Recorder<ByteBuffer>()
    private let closed = Recorder<Bool>()

    init(port: Int, group: any EventLoopGroup) async throws {
        let received = received
        let closed = closed
        channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(received: received))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        channel.closeFuture.whenComplete { _ in closed.append(true) }
    }

    func send(_ bytes: ByteBuffer) async throws {
        try await channel.writeAndFlush(bytes)
    }

    /// Closes the connection, unless the server has.
    func close() async throws {
        do { try await channel.close() } catch ChannelError.alreadyClosed {}
    }

    /// Whether the server has closed the connection within `seconds`.
    func isClosed(within seconds: Double) async -> Bool {
        await !closed.wait(seconds: seconds) { !$0.isEmpty }.isEmpty
    }

    /// The server's commands so far.
    var commands: [Command] {
        var decoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
        var bytes = ByteBuffer()
        for part in received.values { bytes.writeImmutableBuffer(part) }
        guard bytes.readableBytes > 3073 else { return [] }
        bytes.moveReaderIndex(forwardBy: 3073)
        decoder.append(bytes)
        var commands: [Command] = []
        while let message = try? decoder.next() {
            if message.type == MessageType.setChunkSize, let size = message.payload.number {
                try? decoder.setChunkSize(size)
            }
            if message.type == MessageType.command, let command = try? Command(message, limits: RTMPLimits()) {
                commands.append(command)
            }
        }
        return commands
    }

    /// Waits for an `onStatus` with a code.
    func status(_ code: String, within seconds: Double = 20) async -> RTMPStatus? {
        func found() -> AMF0Object? {
            commands.compactMap { $0.argument(0)?.object }.first { $0["code"]?.string == code }
        }
        _ = await received.wait(seconds: seconds) { _ in found() != nil }
        return found().map {
            RTMPStatus(
                level: $0["level"]?.string ?? "",
                code: code,
                description: $0["description"]?.string ?? ""
            )
        }
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let received: Recorder<ByteBuffer>

        init(received: Recorder<ByteBuffer>) {
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.append(unwrapInboundIn(data))
        }
    }
}
