@testable import FanOut
import HTTPTypes
import Media
import NIOCore
import NIOHTTPTypes
import Stage
import Testing

@Suite("Requests from and to other gateways")
struct NodeRoutingTests {
    /// A routing by which the node `b` signs with "right", and the room `far` is elsewhere.
    private static let routing = NodeRouting(
        sender: { request in
            guard let signature = request.headerFields[.nodeSignature] else { return .client }
            let origin = request.headerFields[.clientOrigin].flatMap { ClientOrigin(text: $0) }
            guard signature == "right", let origin else { return .forged }
            return .node("b", origin)
        },
        isElsewhere: { $0 == "far" }
    )

    private func origin(_ address: String) -> ClientOrigin {
        var origin = ClientOrigin(address: address)
        (origin.isMediaSeen, origin.isDirect) = (true, true)
        return origin
    }

    private func signed(_ origin: ClientOrigin, _ signature: String = "right") -> [HTTPField.Name: String] {
        [.nodeSignature: signature, .clientOrigin: origin.text]
    }

    @Test("the origin of a client survives as text, and nothing else is an origin")
    func text() throws {
        var full = ClientOrigin(address: "2001:db8::7")
        full.region = "DE;x"
        (full.isShared, full.isMediaSeen, full.isDirect, full.isSecure) = (true, true, true, true)
        for origin in [ClientOrigin(), ClientOrigin(address: "192.0.2.1"), full] {
            #expect(ClientOrigin(text: origin.text) == origin)
        }
        for text in ["", ";", "x;192.0.2.1;", "m;not-an-address;", "m 192.0.2.1"] {
            #expect(ClientOrigin(text: text) == nil, "\(text)")
        }
        #expect(origin("192.0.2.7").account == PeerAddress("192.0.2.7")?.account)
        #expect(full.account == nil)
    }

    @Test("media of a room elsewhere goes to the server behind with the origin of its client, other media does not")
    func elsewhere() throws {
        let fixture = try MediaServiceFixture(routing: Self.routing, from: "127.0.0.1")
        fixture.goOnAir("near")
        #expect(try fixture.exchange("/live/near/index.m3u8")?.status == 200)
        #expect(fixture.backend.paths.isEmpty)
        try fixture.ask("/live/far/index.m3u8")
        fixture.backend.respond("forwarded")
        #expect(try fixture.answer()?.text == "forwarded")
        let head = try #require(fixture.backend.heads.first)
        #expect(head.headerFields[.clientOrigin] == origin("127.0.0.1").text)
        #expect(ClientTrustPolicy.client(head.headerFields) == PeerAddress("127.0.0.1")?.account)
        #expect(head.headerFields[.forwardingNode] == nil)
    }

    @Test("a request that another node forwards is that of its client, whatever connection it comes by")
    func forwarded() throws {
        let fixture = try MediaServiceFixture(routing: Self.routing, from: "10.0.0.6")
        fixture.goOnAir("near")
        for address in ["203.0.113.1", "203.0.113.2"] {
            let answer = try fixture.exchange("/live/near/index.m3u8", fields: signed(origin(address)))
            #expect(answer?.status == 200)
        }
        let players = fixture.audience.requests
        #expect(players.map(\.address) == ["203.0.113.1", "203.0.113.2"])
        #expect(players.allSatisfy { $0.isDirect && $0.isMediaSeen && !$0.isSharedAddress })
        // Never a third node.
        #expect(try fixture.exchange("/live/far/index.m3u8", fields: signed(origin("203.0.113.1")))?.status == 421)
        #expect(fixture.backend.paths.isEmpty)
        try fixture.ask("/v1/rooms/far", fields: signed(origin("203.0.113.3")))
        let head = try #require(fixture.backend.heads.first)
        #expect(head.headerFields[.forwardingNode] == "b" && head.headerFields[.nodeSignature] == nil)
        #expect(ClientTrustPolicy.client(head.headerFields) == PeerAddress("203.0.113.3")?.account)
    }

    @Test("segments of several viewers on one connection of a node are attributed to none by the connection")
    func attribution() throws {
        let fixture = try MediaServiceFixture(routing: Self.routing, from: "10.0.0.6")
        fixture.goOnAir("near")
        let fields = signed(origin("203.0.113.1"))
        let playlist = try #require(try fixture.exchange("/live/near/media.m3u8?sid=near-5", fields: fields))
        let segment = try #require(playlist.text.split(separator: "\n").last { !$0.hasPrefix("#") })
        let other = signed(origin("203.0.113.2"))
        #expect(try fixture.exchange("/live/near/\(segment)", fields: other)?.status == 200)
        #expect(fixture.audience.eventLog == ["playlist near-5"])
        #expect(fixture.audience.media.map(\.client) == [PeerAddress("203.0.113.2")?.account])
        // The path names the viewer.
        #expect(try fixture.exchange("/live/near/~near-6/\(segment)", fields: other)?.status == 200)
        #expect(fixture.audience.eventLog == ["playlist near-5", "delivered near-6"])
    }

    @Test("the rate limit applies to the client for which a node forwards")
    func rate() throws {
        let limits = HTTPLimits(requests: (perSecond: 0.001, burst: 2))
        let fixture = try MediaServiceFixture(limits: limits, routing: Self.routing, from: "10.0.0.6")
        fixture.goOnAir("near")
        let statuses = try ["203.0.113.1", "203.0.113.1", "203.0.113.1", "203.0.113.2"].map {
            try fixture.exchange("/live/near/none/none", fields: signed(origin($0)))?.status
        }
        #expect(statuses == [404, 404, 429, 404])
    }

    @Test("a wrong signature is refused; what only nodes may state is removed from requests of others")
    func forgery() throws {
        let fixture = try MediaServiceFixture(routing: Self.routing, from: "127.0.0.1")
        fixture.goOnAir("near")
        for path in ["/live/near/index.m3u8", "/live/far/index.m3u8", "/v1/rooms/near"] {
            let answer = try #require(try fixture.exchange(path, fields: signed(origin("203.0.113.1"), "wrong")))
            #expect(answer.status == 403 && answer.text.contains("53444"))
        }
        #expect(fixture.backend.paths.isEmpty && fixture.audience.requests.isEmpty)
        let claimed = [HTTPField.Name.clientOrigin: origin("203.0.113.1").text, .forwardingNode: "b"]
        #expect(try fixture.exchange("/live/near/index.m3u8", fields: claimed)?.status == 200)
        #expect(fixture.audience.requests.map(\.address) == ["127.0.0.1"])
        try fixture.ask("/v1/rooms/near", fields: claimed)
        let head = try #require(fixture.backend.heads.first)
        #expect(head.headerFields[.forwardingNode] == nil)
        #expect(head.headerFields[.clientOrigin] == origin("127.0.0.1").text)
    }

    @Test("a gateway that runs alone removes the fields of nodes and adds none")
    func alone() throws {
        let fixture = try MediaServiceFixture(from: "127.0.0.1")
        var fields = signed(origin("203.0.113.1"))
        fields[.forwardingNode] = "b"
        try fixture.ask("/v1/rooms/near", fields: fields)
        let head = try #require(fixture.backend.heads.first)
        for name in [HTTPField.Name.nodeSignature, .clientOrigin, .forwardingNode] {
            #expect(head.headerFields[name] == nil)
        }
    }
}
