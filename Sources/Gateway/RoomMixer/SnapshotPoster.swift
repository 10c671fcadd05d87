import Logging
import Mixer
import NIOCore
import NIOHTTP1
import NIOPosix

/// Makes the pictures that the gateway asks a mixer for, and brings them there.
///
/// The gateway asks with its answers to reports, in the field `fieldName`: pictures such as `jpg-640` with commas between
/// them. Each is posted on a connection of its own; one that fails is asked for again.
struct SnapshotPoster: Sendable {
    static let fieldName = "Footlight-Snapshots"
    /// Seconds in which a picture must be delivered.
    private static let deadline = TimeAmount.seconds(3)

    private let source: RoomEvents.Source
    private let loop: any EventLoop

    /// - Parameter source: Where the pictures go to, and who brings them.
    init(source: RoomEvents.Source, group: any EventLoopGroup) {
        self.source = source
        loop = group.next()
    }

    /// Makes the pictures that `field` names.
    func answer(_ field: String, with mixer: ProgramMixer) {
        for name in field.split(separator: ",").prefix(4) {
            let parts = name.split(separator: "-")
            guard parts.count == 2, let format = Snapshot.Format(rawValue: String(parts[0])), let width = Int(parts[1])
            else { continue }
            let name = String(name)
            mixer.order(Snapshot(format, width: width > 0 ? width : nil)) { file in
                if let file { post(file, as: name) }
            }
        }
    }

    private func post(_ file: ByteBuffer, as name: String) {
        ClientBootstrap(group: loop)
            .connectTimeout(source.connectDeadline)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(ClosingHandler())
                }
            }
            .connect(host: source.host, port: source.port)
            .whenSuccess { channel in
                var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "\(source.path)?picture=\(name)")
                head.headers.add(name: "Host", value: "\(source.host):\(source.port)")
                head.headers.add(name: "Authorization", value: "Bearer \(source.token)")
                head.headers.add(name: "Content-Type", value: "application/octet-stream")
                head.headers.add(name: "Content-Length", value: "\(file.readableBytes)")
                head.headers.add(name: "Connection", value: "close")
                channel.write(HTTPClientRequestPart.head(head), promise: nil)
                channel.write(HTTPClientRequestPart.body(.byteBuffer(file)), promise: nil)
                channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
                let tooLate = channel.eventLoop.scheduleTask(in: Self.deadline) { channel.close(promise: nil) }
                channel.closeFuture.whenComplete { _ in tooLate.cancel() }
            }
    }
}

/// Ends a connection with its answer, whatever that is: a picture that was not taken is asked for again.
private final class ClosingHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
