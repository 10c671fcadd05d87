import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import Webhooks

extension FuzzTarget {
    /// Responses of webhook receivers, through the client's pipeline.
    static let webhook = FuzzTarget("webhook") { input in
        var input = input
        let step = [1, 13, 256, 65_536][Int(input.byte() & 3)]
        let loop = EmbeddedEventLoop()
        let channel = EmbeddedChannel(loop: loop)
        let answer = loop.makePromise(of: PostAnswer.self)
        let pipeline = channel.pipeline.syncOperations
        guard (try? pipeline.addHTTPClientHandlers()) != nil, (try? pipeline.addHandler(PostHandler())) != nil,
            let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 2)
        else { return answer.fail(PostFault.closed) }
        channel.connect(to: address, promise: nil)
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/in")
        let deadline = NIODeadline.now() + .seconds(5)
        channel.writeAndFlush(
            PostRequest(head: head, body: ByteBuffer(string: "{}"), deadline: deadline, answer: answer),
            promise: nil
        )
        answer.futureResult.whenSuccess { answer in
            let asked = RetryAfter.seconds(answer.retryAfter, now: 1e9)
            var scheduler = DeliveryScheduler(schedule: RetrySchedule())
            _ = scheduler.next(at: 1)
            _ = scheduler.finished(
                DeliveryOutcome(status: answer.status, retryAfter: asked),
                tries: 1,
                at: 1,
                chance: 0.5
            )
        }
        while input.rest.readableBytes > 0, channel.isActive {
            _ = try? channel.writeInbound(input.bytes(step))
            loop.run()
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        loop.advanceTime(by: .seconds(10))
        try? loop.syncShutdownGracefully()
    }
}
