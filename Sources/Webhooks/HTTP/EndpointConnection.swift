import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A connection to an endpoint, used for one message after another while there are some.
struct EndpointConnection: Sendable {
    let address: EndpointAddress
    private let channel: any Channel

    /// Connects to a vetted address of the endpoint's host, until the deadline or the task's cancellation.
    static func open(
        _ address: EndpointAddress,
        at target: SocketAddress,
        tls: NIOSSLContext,
        group: any EventLoopGroup,
        deadline: NIODeadline
    ) async throws -> EndpointConnection {
        let connecting = ClientBootstrap(group: group)
            .connectTimeout(max(deadline - .now(), .milliseconds(1)))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if address.isSecure {
                        let name = address.certificateName
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(PostHandler())
                }
            }
            .connect(to: target)
        // Connecting cannot be broken off, but nobody has to wait for it.
        let connected = group.any().makePromise(of: (any Channel).self)
        connecting.cascade(to: connected)
        let channel = try await withTaskCancellationHandler {
            try await connected.futureResult.get()
        } onCancel: {
            connected.fail(CancellationError())
            connecting.whenSuccess { $0.close(promise: nil) }
        }
        return EndpointConnection(address: address, channel: channel)
    }

    /// Posts a body and waits for the answer, until the deadline or the task's cancellation.
    func post(_ body: ByteBuffer, headers: HTTPHeaders, deadline: NIODeadline) async throws -> PostAnswer {
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: address.target, headers: headers)
        head.headers.replaceOrAdd(name: "host", value: address.hostField)
        head.headers.replaceOrAdd(name: "content-length", value: String(body.readableBytes))
        let answer = channel.eventLoop.makePromise(of: PostAnswer.self)
        return try await withTaskCancellationHandler {
            let request = PostRequest(head: head, body: body, deadline: deadline, answer: answer)
            // A channel that is closed already has nobody left in it who would answer.
            channel.writeAndFlush(request).whenFailure { answer.fail(PostFault(closing: $0)) }
            return try await answer.futureResult.get()
        } onCancel: {
            close()
        }
    }

    func close() {
        channel.close(promise: nil)
    }
}
