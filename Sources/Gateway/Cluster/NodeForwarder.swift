import ControlAPI
import FanOut
import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import Media
import NIOCore
import OutboundHTTP
import Stage
import Synchronization

/// Forwards requests for rooms that another gateway of the cluster has, and its responses, streaming both.
///
/// A request is forwarded once: the gateway that receives it answers, or refuses it with 53442. The client's connection
/// waits for the other gateway's and the reverse, so that neither is read faster than it is written.
final class NodeForwarder: Sendable {
    /// The outcome of a forwarded request.
    enum Outcome: String, Sendable, CaseIterable {
        /// The other gateway answered, whatever the status.
        case answered
        /// The other gateway is known to be lost, or no connection could be made.
        case unreachable
        /// The other gateway gave no answer, or none in time.
        case failed
        /// The other gateway does not have the room either.
        case moved
        /// Too many requests are being forwarded.
        case refused
    }

    /// The time in which another gateway must accept a connection.
    private static let connectTimeout = TimeAmount.seconds(1)
    /// The time for which an unused connection stays open, less than `HTTPLimits.idle` of the other gateway.
    private static let idleTimeout = TimeAmount.seconds(20)
    /// The longest silence of another gateway within a response; event streams send something every 15 seconds.
    private static let readTimeout = TimeAmount.seconds(60)
    /// The time in which the response to a request without a body must begin; requests for media may wait for it.
    private static let responseTimeout = TimeAmount.seconds(30)
    /// The same for a request with a body, for which the client has `HTTPLimits.longestBody`.
    private static let uploadTimeout = TimeAmount.seconds(150)
    /// The time in which another gateway must list its rooms.
    private static let listTimeout = TimeAmount.seconds(2)
    /// The most bytes of such a list: a page of 100 rooms.
    private static let listLimit = 8 << 20
    /// How often, and how many milliseconds apart, it is checked whether a room that has moved is found again.
    private static let moveChecks = (count: 10, milliseconds: 50)

    private let membership: ClusterMembership
    private let signature: NodeSignature
    private let client: OutboundStreamClient
    /// Limits the forwarded requests, event streams included; all are counted as one client's.
    private let limiter: ClientLimiter
    private let outcomes = Mutex<[Outcome: UInt64]>([:])
    private let logger: Logger

    /// - Parameter limit: The maximum number of requests that are forwarded at a time, each of which has a connection.
    init(
        membership: ClusterMembership,
        signature: NodeSignature,
        limit: Int,
        group: any EventLoopGroup,
        logger: Logger
    ) {
        self.membership = membership
        self.signature = signature
        self.logger = logger
        limiter = ClientLimiter(limit: limit)
        client = OutboundStreamClient(
            connections: limit,
            connectTimeout: Self.connectTimeout,
            idleTimeout: Self.idleTimeout,
            readTimeout: Self.readTimeout,
            group: group
        )
    }

    /// The number of forwarded requests by outcome, and of those under way.
    var figures: (outcomes: [Outcome: UInt64], pending: Int) {
        (outcomes.withLock { $0 }, limiter.count(of: 0))
    }

    /// Closes the connections to the other gateways.
    func shutdown() async {
        await client.shutdown()
    }

    /// Forwards a request for a room that another gateway has.
    ///
    /// - Returns: The response; nil if the path names no room of another gateway.
    /// - Throws: 53440 if that gateway cannot be reached, 53441 if it gave no answer, 53442 if another gateway
    ///   forwarded the request, 53006 if too many requests are being forwarded.
    func forward(_ request: Request) async throws(StageError) -> Response? {
        guard let room = RoomReference(path: request.uri.path) else { return nil }
        let location = location(of: room)
        guard location != .here else { return nil }
        guard request.headers[.forwardingNode] == nil else { throw .roomElsewhere }
        guard let slot = limiter.enter(0) else {
            record(.refused)
            var error = StageError.serverBusy(retryAfter: 1)
            error.cause = "Too many requests for rooms of other gateways are under way"
            throw error
        }
        guard let answer = try await answer(to: request, for: room, at: location) else { return nil }
        return response(answer, to: request, slot: slot)
    }

    /// Sends a request to the gateway that has a room; again, if it is safe, when another one has it meanwhile.
    ///
    /// - Returns: The answer; nil if this gateway has the room meanwhile.
    private func answer(
        to request: Request,
        for room: RoomReference,
        at location: ClusterMembership.Location
    ) async throws(StageError) -> OutboundStream? {
        var location = location
        var isLast = !request.isRepeatable
        while true {
            let failure: Outcome
            do throws(ForwardingFault) {
                let answer = try await send(request, to: location)
                record(.answered)
                return answer
            } catch {
                failure = error.outcome
            }
            record(failure)
            if !isLast {
                isLast = true
                let present =
                    failure == .moved ? await self.location(of: room, after: location) : self.location(of: room)
                // A connection that the other gateway closed just now may have been used.
                if present != location || failure == .failed {
                    location = present
                    guard location != .here else { return nil }
                    continue
                }
            }
            throw failure == .failed ? .nodeFailed : .nodeUnreachable
        }
    }

    /// Why there is no answer.
    private struct ForwardingFault: Error {
        let outcome: Outcome
    }

    private func send(
        _ request: Request,
        to location: ClusterMembership.Location
    ) async throws(ForwardingFault) -> OutboundStream {
        guard case .node(_, let address) = location,
            var message = message(request.method, for: request, to: address)
        else { throw ForwardingFault(outcome: .unreachable) }
        let hasBody = request.hasBody
        if hasBody {
            let length = request.headers[.contentLength].flatMap { Int64($0) }
            message.setBody(request.body, length: length)
        }
        let answer: OutboundStream
        do {
            answer = try await client.send(
                message,
                by: .now() + (hasBody ? Self.uploadTimeout : Self.responseTimeout)
            )
        } catch {
            switch error {
            case .unreachable, .connectTimedOut, .tls, .malformed: throw ForwardingFault(outcome: .unreachable)
            case .timedOut, .closed: throw ForwardingFault(outcome: .failed)
            }
        }
        guard answer.status != StageError.roomElsewhere.status else { throw ForwardingFault(outcome: .moved) }
        return answer
    }

    /// Makes the request to another gateway, without its body; nil for an address or a path that cannot be used.
    private func message(
        _ method: HTTPRequest.Method,
        for request: Request,
        to address: String
    ) -> OutboundStreamRequest? {
        guard var target = OutboundTarget(node: address, path: request.head.path ?? ""), let path = target.sentPath
        else { return nil }
        target.path = path
        let origin = request.headers[.clientOrigin] ?? ClientOrigin().text
        var headers = ForwardedFields.request(request.headers)
        // The other gateway makes addresses by which this client reached this one.
        if let authority = request.head.authority { headers.append(("Host", authority)) }
        headers.append((HTTPField.Name.clientOrigin.rawName, origin))
        let proof = signature.sign(method.rawValue, path, origin: origin, at: Date().timeIntervalSince1970)
        headers.append((HTTPField.Name.nodeSignature.rawName, proof))
        return OutboundStreamRequest(method.rawValue, target, headers: headers)
    }

    private func response(_ answer: OutboundStream, to request: Request, slot: ClientSlot) -> Response {
        let status = HTTPResponse.Status(code: min(max(answer.status, 200), 599))
        let headers = ForwardedFields.response(answer.headers)
        let hasBody = request.method != .head && status.code != 204 && status.code != 304
        guard hasBody else {
            // Ends with the headers; the connection can be used again.
            let body = ResponseBody { writer in
                defer { slot.leave() }
                for try await _ in answer.body {}
                try await writer.finish(nil)
            }
            return Response(status: status, headers: headers, body: body)
        }
        let isEndless = headers[.contentLength] == nil && !request.hasBody
        let body = ResponseBody { writer in
            // Held until here, in which the response may also be abandoned.
            defer { slot.leave() }
            if isEndless {
                // Nothing may be written for long, so that a client that left is noticed on the inbound side only.
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    for try await part in answer.body { try await writer.write(part) }
                }
            } else {
                for try await part in answer.body { try await writer.write(part) }
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }

    // MARK: Rooms

    private func location(of room: RoomReference) -> ClusterMembership.Location {
        switch room {
        case .played(let name): membership.location(ofPlayed: name)
        case .named(let name): membership.location(of: name)
        }
    }

    /// Returns where a room is that another gateway no longer has; waits for a moment until that is known.
    private func location(
        of room: RoomReference,
        after former: ClusterMembership.Location
    ) async -> ClusterMembership.Location {
        for _ in 0..<Self.moveChecks.count {
            let present = location(of: room)
            if present != former { return present }
            // Cancellation ends the sleep, and the request with it.
            try? await Task.sleep(for: .milliseconds(Self.moveChecks.milliseconds))
        }
        return former
    }

    private func record(_ outcome: Outcome) {
        outcomes.withLock { $0[outcome, default: 0] += 1 }
    }

    // MARK: Lists

    /// Asks the other gateways for their pages of the list of rooms that a request names.
    ///
    /// - Returns: The pages, and the gateways that did not answer in time or as expected.
    func rooms(for request: Request) async -> (pages: [RoomList], unreachable: [String]) {
        guard request.headers[.forwardingNode] == nil else { return ([], []) }
        let others = membership.others
        let deadline = NIODeadline.now() + Self.listTimeout
        return await withTaskGroup(of: (node: String, page: RoomList?).self) { group in
            for other in others.reachable {
                group.addTask { (other.node, await self.page(for: request, of: other.address, by: deadline)) }
            }
            var result = (pages: [RoomList](), unreachable: others.lost)
            for await (node, page) in group {
                if let page { result.pages.append(page) } else { result.unreachable.append(node) }
            }
            return result
        }
    }

    private func page(for request: Request, of address: String, by deadline: NIODeadline) async -> RoomList? {
        guard let message = message(.get, for: request, to: address), let slot = limiter.enter(0) else { return nil }
        defer { slot.leave() }
        return await withTaskGroup(of: RoomList?.self) { [client, logger] group in
            group.addTask {
                do {
                    let answer = try await client.send(message, by: deadline)
                    let body = try await answer.body.collect(upTo: Self.listLimit)
                    guard answer.status == 200 else {
                        logger.warning(
                            "another gateway did not list its rooms",
                            metadata: ["address": "\(address)", "status": "\(answer.status)"]
                        )
                        return nil
                    }
                    return try WireJSON.decode(RoomList.self, from: Data(body.readableBytesView))
                } catch {
                    return nil
                }
            }
            group.addTask {
                // Cancelled when the list has arrived.
                try? await Task.sleep(for: .nanoseconds(max(deadline - .now(), .zero).nanoseconds))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}

/// The room or show that the path of a request names.
enum RoomReference: Sendable, Equatable {
    /// A unique name, a sid, or the name of a show.
    case named(String)
    /// A name in a playback URL: also that of a preview or of a rendition.
    case played(String)

    /// Parses a path without the query; nil if it names no room.
    init?(path: String) {
        let parts = path.split(separator: "/", maxSplits: 4).map { String($0).removingPercentEncoding ?? "" }
        switch (parts.first, parts.count) {
        case ("live", 2...):
            self = .played(parts[1].hasSuffix(".flv") ? String(parts[1].dropLast(4)) : parts[1])
        case ("v1", 3...) where parts[1] == "rooms" || parts[1] == "shows":
            self = .named(parts[2])
        case ("watch", 3) where parts[2] == "status":
            self = .named(parts[1])
        default:
            return nil
        }
    }
}

/// The header fields that a gateway passes on to another one, and those that it passes back.
enum ForwardedFields {
    /// The fields of one connection (RFC 9110 section 7.6.1), and those that the client and the server make anew.
    private static let dropped: Set = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "expect", "host",
    ]

    /// Returns the fields of a request to another gateway.
    ///
    /// The length is that of the body, which the client states again. A cookie is a login of this gateway's. Of the
    /// gateway's own fields only the token of a CDN is a client's.
    static func request(_ fields: HTTPFields) -> [(name: String, value: String)] {
        passed(fields.map { ($0.name.canonicalName, $0.value) }).filter { name, _ in
            name != "content-length" && name != "cookie"
                && (!name.hasPrefix("x-footlight-") || name == "x-footlight-relay")
        }
    }

    /// Returns the fields of a response to the client.
    static func response(_ fields: [(name: String, value: String)]) -> HTTPFields {
        var headers = HTTPFields()
        for (name, value) in passed(fields.map { ($0.name.lowercased(), $0.value) }) {
            // The server states its own.
            guard name != "date", name != "server", let name = HTTPField.Name(name) else { continue }
            headers.append(HTTPField(name: name, value: value))
        }
        return headers
    }

    private static func passed(_ fields: [(name: String, value: String)]) -> [(name: String, value: String)] {
        let named = fields.filter { $0.name == "connection" }.flatMap { field in
            field.value.lowercased().split { $0 == "," || $0 == " " }.map(String.init)
        }
        let dropped = dropped.union(named)
        return fields.filter { !dropped.contains($0.name) }
    }
}

extension Request {
    /// Whether a body follows the head.
    fileprivate var hasBody: Bool {
        headers[.transferEncoding] != nil || headers[.contentLength].map { $0 != "0" } ?? false
    }

    /// Whether the request can be sent twice with the effect of once.
    fileprivate var isRepeatable: Bool {
        [.get, .head, .options].contains(method) && !hasBody
    }
}
