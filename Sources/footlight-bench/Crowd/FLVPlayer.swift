import Media
import NIOCore
import NIOPosix
import RTMP
import Synchronization

/// Plays one stream by HTTP-FLV and passes on its packets as they arrive.
final class FLVPlayer: StreamPlayer {
    private let port: Int
    private let dialogue: PlayHandshake
    private let group: MultiThreadedEventLoopGroup
    private let onPacket: @Sendable (MediaPacket, MonotonicTime) -> Void
    private let onEnd: @Sendable () -> Void
    private let channel = Mutex<(any Channel)?>(nil)

    init(
        port: Int,
        dialogue: PlayHandshake,
        group: MultiThreadedEventLoopGroup,
        onPacket: @escaping @Sendable (MediaPacket, MonotonicTime) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.port = port
        self.dialogue = dialogue
        self.group = group
        self.onPacket = onPacket
        self.onEnd = onEnd
    }

    func start() {
        ClientBootstrap(group: group)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = FLVPlayerHandler(opening: dialogue.opening, onPacket: onPacket, onEnd: onEnd)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): self.channel.withLock { $0 = channel }
                case .failure: onEnd()
                }
            }
    }

    func stop() {
        channel.withLock { $0 }?.close(promise: nil)
    }
}

/// Sends the request, skips the response header, and parses FLV tags.
private final class FLVPlayerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let opening: [UInt8]
    private let onPacket: (MediaPacket, MonotonicTime) -> Void
    private let onEnd: () -> Void
    /// The part of the response header received so far; nil when the header is complete.
    private var header: ByteBuffer? = ByteBuffer()
    private var reader = FLVReader()

    init(opening: [UInt8], onPacket: @escaping (MediaPacket, MonotonicTime) -> Void, onEnd: @escaping () -> Void) {
        self.opening = opening
        self.onPacket = onPacket
        self.onEnd = onEnd
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: opening)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = MonotonicTime.now()
        var bytes = unwrapInboundIn(data)
        if var header {
            header.writeImmutableBuffer(bytes)
            guard let end = header.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else {
                self.header = header
                return
            }
            header.moveReaderIndex(to: end.upperBound)
            bytes = header
            self.header = nil
        }
        reader.append(bytes)
        do {
            while let packet = try reader.next() { onPacket(packet, now) }
        } catch {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        onEnd()
    }
}
