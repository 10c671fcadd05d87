import FanOut
import HTTPTypes
import Testing

@testable import Gateway

@Suite("Signatures of forwarded requests")
struct NodeSignatureTests {
    private static let key = Array("a key of 32 characters or of more".utf8)
    private let signature = NodeSignature(node: "b", key: Self.key)
    private let origin = ClientOrigin(address: "203.0.113.1")

    private func request(_ method: HTTPRequest.Method = .get, _ path: String = "/live/a?x=1") -> HTTPRequest {
        var request = HTTPRequest(method: method, scheme: "http", authority: "a", path: path)
        request.headerFields[.clientOrigin] = origin.text
        request.headerFields[.nodeSignature] = signature.sign("GET", "/live/a?x=1", origin: origin.text, at: 1000)
        return request
    }

    @Test("a signed request is of its sender, for the time that clocks may differ")
    func right() {
        for time in [970.0, 1000, 1030] {
            #expect(signature.sender(of: request(), at: time) == .node("b", origin))
        }
        // The other gateway's own name does not matter.
        let other = NodeSignature(node: "a", key: Self.key)
        #expect(other.sender(of: request(), at: 1000) == .node("b", origin))
    }

    @Test("a request without a signature is a client's")
    func client() {
        var unsigned = request()
        unsigned.headerFields[.nodeSignature] = nil
        #expect(signature.sender(of: unsigned, at: 1000) == .client)
    }

    @Test("anything else that is changed, another key, and a late request are forged")
    func wrong() throws {
        #expect(signature.sender(of: request(.post), at: 1000) == .forged)
        #expect(signature.sender(of: request(.get, "/live/b?x=1"), at: 1000) == .forged)
        #expect(signature.sender(of: request(), at: 1031) == .forged)
        #expect(signature.sender(of: request(), at: 969) == .forged)
        let other = NodeSignature(node: "a", key: Self.key.reversed())
        #expect(other.sender(of: request(), at: 1000) == .forged)
        var moved = request()
        moved.headerFields[.clientOrigin] = ClientOrigin(address: "203.0.113.2").text
        #expect(signature.sender(of: moved, at: 1000) == .forged)
        let text = try #require(request().headerFields[.nodeSignature])
        let parts = text.split(separator: " ")
        for forged in [
            "", "b", "b 1000", "\(text) x", "c \(parts[1]) \(parts[2])", "b 1001 \(parts[2])", "b nan \(parts[2])",
            "b 1e400 \(parts[2])", "b \(parts[1]) AAAA",
        ] {
            var request = request()
            request.headerFields[.nodeSignature] = forged
            #expect(signature.sender(of: request, at: 1000) == .forged, "\(forged)")
        }
    }
}

@Suite("What is forwarded to other gateways")
struct ForwardingRulesTests {
    @Test(
        "the path names the room",
        arguments: [
            ("/live/show.flv", RoomReference.played("show")), ("/live/show_720p/~sid/run/1.m4s", .played("show_720p")),
            ("/v1/rooms/show", .named("show")), ("/v1/rooms/RM1/participants/x/tracks/y", .named("RM1")),
            ("/v1/shows/weekly/status", .named("weekly")), ("/watch/show/status", .named("show")),
            ("/v1/rooms/%73how", .named("show")), ("/v1/rooms", nil), ("/v1/system", nil), ("/watch/show", nil),
            ("/live", nil), ("/", nil), ("/dashboard", nil),
        ] as [(String, RoomReference?)]
    )
    func references(path: String, reference: RoomReference?) {
        #expect(RoomReference(path: path) == reference)
    }

    @Test("the fields of one connection, of the login and of this gateway are left out of a request")
    func requestFields() {
        var fields: HTTPFields = [
            .authorization: "Bearer x", .connection: "keep-alive, X-Own", .te: "trailers", .transferEncoding: "chunked",
            .contentLength: "3", .contentType: "text/plain", .cookie: "session=1", .upgrade: "h2c", .range: "bytes=0-",
            .expect: "100-continue", .clientOrigin: ";;", .forwardingNode: "b", .nodeSignature: "x",
        ]
        for name in ["X-Own", "X-Footlight-Login", "X-Footlight-Relay", "Keep-Alive", "Proxy-Authorization"] {
            if let name = HTTPField.Name(name) { fields[name] = "v" }
        }
        let names = ForwardedFields.request(fields).map(\.name)
        #expect(Set(names) == ["authorization", "content-type", "range", "x-footlight-relay"])
    }

    @Test("the fields of one connection and of the server are left out of a response, repeated ones stay")
    func responseFields() {
        let fields = ForwardedFields.response(
            [
                ("Content-Type", "a"), ("Connection", "close, X-Own"), ("X-Own", "1"), ("Transfer-Encoding", "chunked"),
                ("Date", "x"), ("Server", "x"), ("Retry-After", "2"), ("Vary", "a"), ("Vary", "b"), ("b ad", "x"),
                ("Content-Length", "3"),
            ].map { (name: $0.0, value: $0.1) }
        )
        #expect(fields[.contentType] == "a" && fields[.retryAfter] == "2" && fields[values: .vary] == ["a", "b"])
        #expect(fields[.contentLength] == "3" && fields.count == 5)
    }
}
