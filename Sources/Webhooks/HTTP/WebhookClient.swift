import FootlightModel
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Posts messages: resolves the host, connects only to vetted addresses, and follows no redirect.
struct WebhookClient: Sendable {
    /// The content of one request.
    struct SignedMessage: Sendable {
        let id: String
        let body: [UInt8]
        /// The sending time, in seconds since 1970.
        let timestamp: Double
        let signatures: String
    }

    /// The maximum number of addresses tried per host.
    private static let addressLimit = 3
    /// The time limit for name resolution, in seconds.
    private static let lookUpTimeout = 5.0

    private let vet: EndpointVetting
    private let group: any EventLoopGroup
    private let tls: NIOSSLContext
    private let limit: Double
    private let allowsPlainHTTP: Bool

    /// - Parameter limit: The time limit of an attempt, in seconds.
    init(
        vet: @escaping EndpointVetting,
        group: any EventLoopGroup,
        limit: Double,
        allowsPlainHTTP: Bool
    ) throws {
        self.vet = vet
        self.group = group
        self.limit = limit
        self.allowsPlainHTTP = allowsPlainHTTP
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        tls = try NIOSSLContext(configuration: configuration)
    }

    /// Posts one message.
    ///
    /// - Parameter reusable: The previous message's connection if still usable; set to one that can be reused, or nil.
    func post(
        _ message: SignedMessage,
        to address: EndpointAddress,
        over reusable: inout EndpointConnection?
    ) async -> DeliveryOutcome {
        guard address.isSecure || allowsPlainHTTP else { return DeliveryOutcome(.forbidden) }
        let deadline = NIODeadline.now() + .milliseconds(Int64(limit * 1000))
        if let connection = reusable, connection.address == address {
            do {
                return try await post(message, over: connection, deadline: deadline, reusable: &reusable)
            } catch PostFault.closed where !Task.isCancelled {
                // The endpoint closed the idle connection before it received the request; retry with a new one.
                reusable = nil
            } catch {
                reusable = nil
                return Self.outcome(of: error)
            }
        }
        reusable?.close()
        reusable = nil
        switch await vet(address.host, address.port, min(limit, Self.lookUpTimeout)) {
        case .forbidden: return DeliveryOutcome(.forbidden)
        case .notFound: return DeliveryOutcome(.nameNotFound)
        case .addresses(let found):
            do {
                let connection = try await connect(address, to: found, deadline: deadline)
                return try await post(message, over: connection, deadline: deadline, reusable: &reusable)
            } catch {
                return Self.outcome(of: error)
            }
        }
    }

    private func connect(
        _ address: EndpointAddress,
        to found: [String],
        deadline: NIODeadline
    ) async throws -> EndpointConnection {
        let candidates = found.prefix(Self.addressLimit)
        var lastError: any Error = ChannelError.connectTimeout(.zero)
        for (index, literal) in candidates.enumerated() {
            // Each address gets an equal share of the remaining time.
            let share = max(deadline - .now(), .zero).nanoseconds / Int64(candidates.count - index)
            do {
                return try await EndpointConnection.open(
                    address,
                    at: try SocketAddress(ipAddress: literal, port: Int(address.port)),
                    tls: tls,
                    group: group,
                    deadline: .now() + .nanoseconds(share)
                )
            } catch {
                lastError = error
            }
        }
        throw lastError
    }

    private func post(
        _ message: SignedMessage,
        over connection: EndpointConnection,
        deadline: NIODeadline,
        reusable: inout EndpointConnection?
    ) async throws -> DeliveryOutcome {
        let headers: HTTPHeaders = [
            "content-type": "application/json",
            "user-agent": "Footlight",
            "webhook-id": message.id,
            "webhook-timestamp": String(Int64(message.timestamp)),
            "webhook-signature": message.signatures,
        ]
        let answer = try await connection.post(ByteBuffer(bytes: message.body), headers: headers, deadline: deadline)
        reusable = answer.isReusable ? connection : nil
        let retryAfter = RetryAfter.seconds(answer.retryAfter, now: Date().timeIntervalSince1970)
        let isHonoured = answer.status == 429 || answer.status == 503
        return DeliveryOutcome(status: answer.status, retryAfter: isHonoured ? retryAfter : nil)
    }

    private static func outcome(of error: any Error) -> DeliveryOutcome {
        switch error {
        case PostFault.timedOut: DeliveryOutcome(.timeout)
        case PostFault.tls: DeliveryOutcome(.tls)
        case PostFault.closed: DeliveryOutcome(.closed)
        case ChannelError.connectTimeout: DeliveryOutcome(.timeout)
        default: DeliveryOutcome(.unreachable)
        }
    }
}

/// A connection to an endpoint, reused for consecutive messages.
struct EndpointConnection: Sendable {
    let address: EndpointAddress
    private let channel: any Channel

    /// Connects to a vetted address of the endpoint's host; fails at the deadline or on cancellation.
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
        // The connection attempt cannot be cancelled, but the wait for it can.
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

    /// Posts a body and waits for the response; fails at the deadline or on cancellation.
    func post(_ body: ByteBuffer, headers: HTTPHeaders, deadline: NIODeadline) async throws -> PostAnswer {
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: address.target, headers: headers)
        head.headers.replaceOrAdd(name: "host", value: address.hostField)
        head.headers.replaceOrAdd(name: "content-length", value: String(body.readableBytes))
        let answer = channel.eventLoop.makePromise(of: PostAnswer.self)
        return try await withTaskCancellationHandler {
            let request = PostRequest(head: head, body: body, deadline: deadline, answer: answer)
            // The pipeline of a closed channel is empty and does not complete the promise.
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

/// Parses `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// Returns the seconds to wait; nil if the text is invalid.
    static func seconds(_ text: String?, now: Double) -> Double? {
        guard let text = text?.trimmingCharacters(in: .whitespaces), text.utf8.count <= 64 else { return nil }
        if let seconds = UInt32(text) { return Double(seconds) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text).map { max($0.timeIntervalSince1970 - now, 0) }
    }
}
