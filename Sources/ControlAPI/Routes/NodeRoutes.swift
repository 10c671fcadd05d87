public import FootlightModel
public import Hummingbird
public import Stage

/// The other gateways of a cluster, as the routes work with them.
public protocol ClusterControlling: Sendable {
    /// The name of this gateway.
    var name: String { get }

    /// The gateways of the cluster, by name.
    var nodes: [NodeResource] { get }

    /// Claims the name of a room or show that is about to be created here, so that no other gateway has it.
    ///
    /// - Throws: 53113 if another gateway has it, 53443 if the database does not answer.
    func claim(_ name: String) async throws(StageError)

    /// Waits until the other gateways should know a new room, of which a client may ask them next.
    func announce(_ sid: String) async

    /// Forwards a request for a room that another gateway has.
    ///
    /// - Returns: The response; nil if this gateway is to answer the request.
    /// - Throws: 53440, 53441 or 53006; 53442 if another gateway forwarded the request already.
    func forward(_ request: Request) async throws(StageError) -> Response?

    /// Asks the other gateways for their pages of the list of rooms that a request names.
    ///
    /// - Returns: The pages, and the names of the gateways that did not answer in time; none of both for a request that
    ///   another gateway forwarded.
    func rooms(for request: Request) async -> (pages: [RoomList], unreachable: [String])
}

extension ClusterControlling {
    /// Forwards a request as `forward` does, with errors as responses; for requests outside of the API.
    public func respond(to request: Request) async -> Response? {
        do throws(StageError) {
            return try await forward(request)
        } catch {
            // Without the addresses of the gateway, the error names the path of its page.
            return try? APIResponse.error(error, PlaybackAddresses(host: "", httpPort: 0, rtmpPort: 0))
        }
    }
}

/// The route that lists the gateways of a cluster.
struct NodeRoutes: FeatureRoutes {
    /// Nil for a gateway that runs alone.
    let cluster: (any ClusterControlling)?

    func add(to api: APIRoutes) {
        api.read("nodes") { call in
            try call.claims.requireMonitoring()
            return try APIResponse.json(NodeList(nodes: cluster?.nodes ?? []))
        }
    }
}

/// Middleware that forwards requests for rooms that another gateway has.
struct RoomForwardingMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    let cluster: any ClusterControlling

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.uri.path.hasPrefix("/live/") else {
            if let response = try await cluster.forward(request) { return response }
            return try await next(request, context)
        }
        guard var response = await cluster.respond(to: request) else { return try await next(request, context) }
        // Players of any origin may know why there is no media, as they may play it.
        response.headers[.accessControlAllowOrigin] = "*"
        return response
    }
}

extension RoomList {
    /// Combines pages of the same list of several gateways into its page.
    ///
    /// - Parameter size: The number of rooms on a page.
    init(merging pages: [RoomList], size: Int, unreachable: [String]) {
        let all = pages.flatMap(\.rooms).sorted { ($0.dateCreated, $0.sid) < ($1.dateCreated, $1.sid) }
        let rooms = Array(all.prefix(size))
        let isLast = all.count <= size && pages.allSatisfy { $0.meta.nextPageToken == nil }
        let next = isLast ? nil : rooms.last.map { PageRequest.Cursor(at: $0.dateCreated.seconds, sid: $0.sid).text }
        self.init(
            rooms: rooms,
            meta: PageResource(pageSize: size, nextPageToken: next),
            unreachableNodes: unreachable.isEmpty ? nil : unreachable.sorted()
        )
    }
}
