import ControlAPI
import FootlightModel
import FootlightTesting
import Hummingbird
import Stage
import Synchronization
import Testing

/// A cluster in which every claim has the same outcome, and every request for the room `far` is forwarded.
final class StubCluster: ClusterControlling {
    let claims = Mutex<[String]>([])
    let announced = Mutex<[String]>([])
    /// The error with which claims and forwarded requests fail.
    let fault = Mutex<StageError?>(nil)
    /// The pages of other nodes, and the nodes that do not answer.
    let pages = Mutex<(pages: [RoomList], unreachable: [String])>(([], []))

    let name = "a"
    let nodes = [ModelSamples.nodeResource]

    func claim(_ name: String) async throws(StageError) {
        if let fault = fault.withLock({ $0 }) { throw fault }
        claims.withLock { $0.append(name) }
    }

    func announce(_ sid: String) async { announced.withLock { $0.append(sid) } }

    func forward(_ request: Request) async throws(StageError) -> Response? {
        guard request.uri.path.hasPrefix("/v1/rooms/far") else { return nil }
        if let fault = fault.withLock({ $0 }) { throw fault }
        return Response(status: .accepted, headers: [.eTag: "far"])
    }

    func rooms(for request: Request) async -> (pages: [RoomList], unreachable: [String]) { pages.withLock { $0 } }
}

@Suite("Routes of a cluster")
struct NodeRoutesTests {
    @Test("the list of nodes is for operators and monitors, and empty for a gateway that runs alone")
    func nodes() async throws {
        try await ControlServer.run { (server) async throws in
            #expect(try await server.ask("GET", "/v1/nodes").decode(NodeList.self) == NodeList(nodes: []))
        }
        try await ControlServer.run(cluster: StubCluster()) { (server) async throws in
            let nodes = try await server.ask("GET", "/v1/nodes").decode(NodeList.self)
            #expect(nodes == NodeList(nodes: [ModelSamples.nodeResource]))
            #expect(try await server.ask("GET", "/v1/nodes", as: .unauthenticated).status == 401)
        }
    }

    @Test("a name is claimed before its room or show exists, and what the claim is refused with is the answer")
    func claims() async throws {
        let cluster = StubCluster()
        let settings = StageSettings(createsRoomsOnJoin: true)
        try await ControlServer.run(settings: settings, cluster: cluster) { (server) async throws in
            let room = try await server.ask("POST", "/v1/rooms", #"{"unique_name":"show"}"#)
            #expect(room.status == 201)
            let made = try room.decode(RoomResource.self)
            #expect(made.node == "a" && cluster.announced.withLock { $0 } == [made.sid])
            #expect(try await server.ask("POST", "/v1/shows", #"{"name":"weekly"}"#).status == 201)
            let join = #"{"identity":"ada","mode":"RECV_ONLY"}"#
            #expect(try await server.ask("POST", "/v1/rooms/adhoc/participants", join).status == 201)
            #expect(try await server.ask("POST", "/v1/rooms/show/participants", join).status == 201)
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"a b"}"#).refusal == "400/53102")
            #expect(cluster.claims.withLock { $0 } == ["show", "weekly", "adhoc"])

            cluster.fault.withLock { $0 = .roomExists(at: "b") }
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"new"}"#).refusal == "409/53113")
            cluster.fault.withLock { $0 = .clusterUnavailable }
            let refused = try await server.ask("POST", "/v1/rooms", #"{"unique_name":"new"}"#)
            #expect(refused.refusal == "503/53443" && refused.headers["retry-after"] == "2")
            #expect(try await server.ask("POST", "/v1/shows", #"{"name":"new"}"#).refusal == "503/53443")
            #expect(try await server.ask("POST", "/v1/rooms/new/participants", join).refusal == "503/53443")
            #expect(server.directory.rooms().map(\.name).sorted() == ["adhoc", "show"])
        }
    }

    @Test("requests for a room elsewhere are forwarded whatever their method; a fault is an error of the API")
    func forwarding() async throws {
        let cluster = StubCluster()
        try await ControlServer.run(cluster: cluster) { (server) async throws in
            for (method, path) in [
                ("GET", "/v1/rooms/far"), ("DELETE", "/v1/rooms/far/x"), ("PUT", "/v1/rooms/far/none"),
            ] {
                let answer = try await server.ask(method, path, as: .unauthenticated)
                #expect(answer.status == 202 && answer.headers["etag"] == "far", "\(method)")
            }
            cluster.fault.withLock { $0 = .nodeUnreachable }
            let refused = try await server.ask("GET", "/v1/rooms/far")
            #expect(refused.refusal == "503/53440" && refused.headers["retry-after"] == "2")
            #expect(try await server.ask("GET", "/v1/rooms/near").refusal == "404/53106")
        }
    }

    @Test("the list of rooms has those of all nodes in order, page by page, and names the nodes that are missing")
    func list() async throws {
        let cluster = StubCluster()
        try await ControlServer.run(cluster: cluster) { (server) async throws in
            try await server.makeRoom()
            let own = try await server.ask("GET", "/v1/rooms").decode(RoomList.self)
            #expect(own.rooms.count == 1 && own.unreachableNodes == nil)
            var (before, after) = (own.rooms[0], own.rooms[0])
            (before.sid, before.dateCreated.seconds) = ("RM-before", before.dateCreated.seconds - 60)
            (after.sid, after.dateCreated.seconds) = ("RM-after", after.dateCreated.seconds + 60)
            let page = PageResource(pageSize: 50, nextPageToken: nil)
            let others = [RoomList(rooms: [before, after], meta: page)]
            cluster.pages.withLock { $0 = (others, ["d", "c"]) }
            let all = try await server.ask("GET", "/v1/rooms").decode(RoomList.self)
            #expect(all.rooms.map(\.sid) == ["RM-before", own.rooms[0].sid, "RM-after"])
            #expect(all.unreachableNodes == ["c", "d"] && all.meta.nextPageToken == nil)
            let first = try await server.ask("GET", "/v1/rooms?page_size=2").decode(RoomList.self)
            #expect(first.rooms.map(\.sid) == ["RM-before", own.rooms[0].sid] && first.meta.nextPageToken != nil)
        }
    }
}
