import NIOCore
import NIOHTTP1

/// What an HTTP server answered.
struct AssetAnswer: Sendable {
    var status: Int
    var location: String?
    var body = ByteBuffer()

    /// The bytes that were asked for.
    ///
    /// - Throws: `AssetError` when they were refused.
    func content() throws -> ByteBuffer {
        guard status == 200 else {
            // What is not there yet, or who is busy, may be there next time.
            let isPassing = status == 429 || status >= 500
            throw AssetError(isPassing ? .unreachable : .refused, "status \(status)")
        }
        return body
    }
}

/// Collects one answer, up to a number of bytes, and closes the connection.
final class AssetAnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<AssetAnswer>
    private let most: Int
    private var answer: AssetAnswer?

    init(_ promise: EventLoopPromise<AssetAnswer>, most: Int) {
        self.promise = promise
        self.most = most
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            answer = AssetAnswer(status: Int(head.status.code), location: head.headers.first(name: "Location"))
            let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            if length > most { refuse(context) }
        case .body(var bytes):
            guard (answer?.body.readableBytes ?? 0) + bytes.readableBytes <= most else { return refuse(context) }
            answer?.body.writeBuffer(&bytes)
        case .end:
            if let answer { promise.succeed(answer) }
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Does nothing after success.
        promise.fail(AssetError(.unreachable, "the connection is gone"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(AssetError(.unreachable, "\(error)"))
        context.close(promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext) {
        promise.fail(AssetError(.tooLarge, "more than \(most) bytes"))
        context.close(promise: nil)
    }
}
