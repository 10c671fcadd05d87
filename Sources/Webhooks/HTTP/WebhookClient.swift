import FootlightModel
import Foundation
import NIOCore
import OutboundHTTP
import Synchronization

/// Posts messages: resolves the host, connects only to vetted addresses, and follows no redirect.
final class WebhookClient: Sendable {
    /// The content of one request.
    struct SignedMessage: Sendable {
        let id: String
        let body: [UInt8]
        /// The sending time, in seconds since 1970.
        let timestamp: Double
        let signatures: String
    }

    /// The time limit for name resolution, in seconds.
    private static let lookUpTimeout = 5.0
    /// The maximum bytes of a response body that are read to keep the connection open; the body is ignored.
    private static let bodyLimit = 4096

    private let vet: EndpointVetting
    private let group: any EventLoopGroup
    private let limit: Double
    /// Whether endpoints without TLS are allowed.
    let allowsPlainHTTP: Atomic<Bool>

    /// - Parameter limit: The time limit of an attempt, in seconds.
    init(vet: @escaping EndpointVetting, group: any EventLoopGroup, limit: Double, allowsPlainHTTP: Bool) {
        self.vet = vet
        self.group = group
        self.limit = limit
        self.allowsPlainHTTP = Atomic(allowsPlainHTTP)
    }

    /// Posts one message.
    ///
    /// - Parameter reusable: The previous message's connection if still usable; set to one that can be reused, or nil.
    func post(
        _ message: SignedMessage,
        to address: EndpointAddress,
        over reusable: inout OutboundConnection?
    ) async -> DeliveryOutcome {
        guard address.target.isSecure || allowsPlainHTTP.load(ordering: .relaxed) else {
            return DeliveryOutcome(.forbidden)
        }
        let deadline = NIODeadline.now() + .milliseconds(Int64(limit * 1000))
        let (request, target) = (request(message), address.target)
        let former = reusable
        reusable = nil
        do throws(OutboundFault) {
            if let former, former.target == target {
                do throws(OutboundFault) {
                    let response = try await former.send(request, by: deadline)
                    reusable = response.isReusable ? former : nil
                    return Self.outcome(of: response)
                } catch .closed where !Task.isCancelled {
                    // The endpoint closed the idle connection before it received the request; retry with a new one.
                }
            }
            switch await vet(target.host, UInt16(clamping: target.port), min(limit, Self.lookUpTimeout)) {
            case .forbidden: return DeliveryOutcome(.forbidden)
            case .notFound: return DeliveryOutcome(.nameNotFound)
            case .addresses(let found):
                let (response, connection) = try await OutboundConnection.send(
                    request,
                    to: target,
                    at: found,
                    group: group,
                    by: deadline
                )
                reusable = response.isReusable ? connection : nil
                return Self.outcome(of: response)
            }
        } catch {
            return Self.outcome(of: error)
        }
    }

    private func request(_ message: SignedMessage) -> OutboundRequest {
        OutboundRequest(
            .post,
            headers: [
                ("content-type", "application/json"),
                ("user-agent", "Footlight"),
                ("webhook-id", message.id),
                ("webhook-timestamp", String(Int64(message.timestamp))),
                ("webhook-signature", message.signatures),
            ],
            body: ByteBuffer(bytes: message.body),
            responseLimit: Self.bodyLimit
        )
    }

    private static func outcome(of response: OutboundResponse) -> DeliveryOutcome {
        let retryAfter = RetryAfter.seconds(response.retryAfter, now: Date().timeIntervalSince1970)
        let isHonoured = response.status == 429 || response.status == 503
        return DeliveryOutcome(status: response.status, retryAfter: isHonoured ? retryAfter : nil)
    }

    private static func outcome(of fault: OutboundFault) -> DeliveryOutcome {
        switch fault {
        case .timedOut, .connectTimedOut: DeliveryOutcome(.timeout)
        case .tls: DeliveryOutcome(.tls)
        case .closed: DeliveryOutcome(.closed)
        case .unreachable, .malformed: DeliveryOutcome(.unreachable)
        }
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
