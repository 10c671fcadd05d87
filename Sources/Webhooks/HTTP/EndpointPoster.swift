import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Posts messages: looks up the host, connects to an address that was vetted and to no other, and follows no redirect.
struct EndpointPoster: Sendable {
    /// What goes into one request.
    struct Letter: Sendable {
        let id: String
        let body: [UInt8]
        /// Of the moment at which it is sent; seconds since 1970.
        let timestamp: Double
        let signatures: String
    }

    /// Addresses of a host that are tried at most.
    private static let addressLimit = 3
    /// Seconds that the look-up of a name may take.
    private static let lookUpLimit = 5.0

    private let vet: EndpointVetting
    private let group: any EventLoopGroup
    private let tls: NIOSSLContext
    private let limit: Double
    private let allowsPlainHTTP: Bool

    /// - Parameter limit: Seconds that a try may take.
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
    /// - Parameter kept: The connection of the message before, if it is still good; left there when it is good for more.
    func post(
        _ letter: Letter,
        to address: EndpointAddress,
        over kept: inout EndpointConnection?
    ) async -> DeliveryOutcome {
        guard address.isSecure || allowsPlainHTTP else { return DeliveryOutcome(.forbidden) }
        let deadline = NIODeadline.now() + .milliseconds(Int64(limit * 1000))
        if let connection = kept, connection.address == address {
            do {
                return try await post(letter, over: connection, deadline: deadline, kept: &kept)
            } catch PostFault.closed where !Task.isCancelled {
                // It let go of the connection in the meantime, without having heard us: once more, with another one.
                kept = nil
            } catch {
                kept = nil
                return Self.outcome(of: error)
            }
        }
        kept?.close()
        kept = nil
        switch await vet(address.host, address.port, min(limit, Self.lookUpLimit)) {
        case .forbidden: return DeliveryOutcome(.forbidden)
        case .notFound: return DeliveryOutcome(.nameNotFound)
        case .addresses(let found):
            do {
                let connection = try await connect(address, to: found, deadline: deadline)
                return try await post(letter, over: connection, deadline: deadline, kept: &kept)
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
            // Each gets its share of what time is left.
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
        _ letter: Letter,
        over connection: EndpointConnection,
        deadline: NIODeadline,
        kept: inout EndpointConnection?
    ) async throws -> DeliveryOutcome {
        let headers: HTTPHeaders = [
            "content-type": "application/json",
            "user-agent": "Footlight",
            "webhook-id": letter.id,
            "webhook-timestamp": String(Int64(letter.timestamp)),
            "webhook-signature": letter.signatures,
        ]
        let answer = try await connection.post(ByteBuffer(bytes: letter.body), headers: headers, deadline: deadline)
        kept = answer.isReusable ? connection : nil
        let asked = RetryAfter.seconds(answer.retryAfter, now: Date().timeIntervalSince1970)
        let isHeeded = answer.status == 429 || answer.status == 503
        return DeliveryOutcome(status: answer.status, retryAfter: isHeeded ? asked : nil)
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
