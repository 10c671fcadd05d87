import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

@testable import Webhooks

/// An HTTP server that receives webhooks, checks their signatures, and answers as configured.
final class WebhookReceiver: Sendable {
    /// A received message.
    struct ReceivedMessage: Sendable, Equatable {
        let id: String
        let body: String
        /// The indices of the known secrets whose signatures are valid.
        let signers: [Int]
        let signatures: Int
        let path: String
        let method: String

        /// Returns a value of the body's JSON as text.
        func value(_ key: String) -> String? {
            let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return object?[key].map { "\($0)" }
        }
    }

    enum Behaviour: Sendable {
        case answer(Int, [String: String] = [:], body: Int = 0)
        case hang
        case closeUnanswered
    }

    private struct State {
        var messages: [ReceivedMessage] = []
        var secrets: [WebhookSecret] = []
        var connections = 0
        var next: @Sendable (_ number: Int) -> Behaviour = { _ in .answer(204) }
    }

    private let state = Mutex(State())
    private let group: any EventLoopGroup
    private let channel = Mutex<(any Channel)?>(nil)

    init(group: any EventLoopGroup) {
        self.group = group
    }

    var messages: [ReceivedMessage] { state.withLock { $0.messages } }
    var connections: Int { state.withLock { $0.connections } }

    func setSecrets(_ secrets: [WebhookSecret]) {
        state.withLock { $0.secrets = secrets }
    }

    /// Sets the behaviour for further requests; the number counts all requests so far, including the current one.
    func behave(_ next: @escaping @Sendable (_ number: Int) -> Behaviour) {
        state.withLock { $0.next = next }
    }

    /// Starts listening, and returns the port.
    @discardableResult
    func open(port: Int = 0) async throws -> Int {
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(self))
                    self.state.withLock { $0.connections += 1 }
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .get()
        self.channel.withLock { $0 = channel }
        return channel.localAddress?.port ?? 0
    }

    func close() async throws {
        try await channel.withLock { $0 }?.close()
    }

    private func receive(_ head: HTTPRequestHead, _ body: [UInt8]) -> Behaviour {
        let id = head.headers.first(name: "webhook-id") ?? ""
        let time = head.headers.first(name: "webhook-timestamp").flatMap { Int64($0) } ?? 0
        let signatures = (head.headers.first(name: "webhook-signature") ?? "").split(separator: " ").map(String.init)
        let isFresh = abs(Date().timeIntervalSince1970 - Double(time)) < 300
        return state.withLock { state in
            let signers = state.secrets.indices.filter { index in
                isFresh && signatures.contains(state.secrets[index].sign(id: id, timestamp: time, body: body))
            }
            state.messages.append(
                ReceivedMessage(
                    id: id,
                    body: String(decoding: body, as: UTF8.self),
                    signers: Array(signers),
                    signatures: signatures.count,
                    path: head.uri,
                    method: head.method.rawValue
                )
            )
            return state.next(state.messages.count)
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let receiver: WebhookReceiver
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ receiver: WebhookReceiver) {
            self.receiver = receiver
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body = []
            case .body(let part):
                body += part.readableBytesView
            case .end:
                guard let head else { return }
                switch receiver.receive(head, body) {
                case .hang: break
                case .closeUnanswered: context.close(promise: nil)
                case .answer(let status, let fields, let size):
                    var headers = HTTPHeaders(fields.map { ($0.key, $0.value) })
                    headers.add(name: "content-length", value: String(size))
                    let answer = HTTPResponseHead(
                        version: .http1_1,
                        status: HTTPResponseStatus(statusCode: status),
                        headers: headers
                    )
                    context.write(wrapOutboundOut(.head(answer)), promise: nil)
                    if size > 0 {
                        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: size)
                        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                    }
                    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                }
            }
        }
    }
}
