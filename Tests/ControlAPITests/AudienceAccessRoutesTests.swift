import Admission
import FootlightModel
import FootlightTesting
import Foundation
import Stage
import TestSupport
import Testing

@testable import ControlAPI

@Suite("Routes for private rooms and tickets")
struct AudienceAccessRoutesTests {
    private static let csv = ["Content-Type": "text/csv"]

    private static func time(in seconds: Double) -> String {
        Timestamp(Date().timeIntervalSince1970 + seconds).text
    }

    @Test("a room is public, is made private by its creation or later, and never shows its passphrase")
    func access() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let open = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(open.access == nil)
            let path = "/v1/rooms/show/access"
            #expect(try await server.ask("GET", path).decode(AccessResource.self).rule == .public)
            let body = #"{"rule":"passphrase","passphrase":"curtain call","deny_networks":["192.0.2.0/24"]}"#
            let changed = try await server.ask("PUT", path, body)
            #expect(changed.status == 200 && !changed.text.contains("curtain"))
            let room = try await server.ask("GET", "/v1/rooms/show")
            #expect(!room.text.contains("curtain") && !room.text.contains("digest"))
            let access = try #require(try room.decode(RoomResource.self).access)
            #expect(access.rule == .passphrase && access.denyNetworks == ["192.0.2.0/24"])
            // What is left out stays, the passphrase too.
            let later = try await server.ask("PUT", path, #"{"allow_regions":["DE"]}"#).decode(AccessResource.self)
            #expect(later.rule == .passphrase && later.allowRegions == ["DE"])
            let stored = try server.directory.room("show").settings.audienceAccess
            #expect(stored.passphrase != nil)
            #expect(try await server.ask("PUT", path, #"{"rule":"public"}"#).status == 200)
            #expect(try server.directory.room("show").settings.audienceAccess.passphrase == nil)

            let second = #"{"unique_name":"second","access":{"rule":"passphrase","passphrase":"123456"}}"#
            let made = try await server.ask("POST", "/v1/rooms", second)
            #expect(made.status == 201 && !made.text.contains("123456"))
            #expect(try made.decode(RoomResource.self).access?.rule == .passphrase)
        }
    }

    @Test(
        "refuses what cannot be, naming the field, and changes nothing",
        arguments: [
            (#"{"rule":"secret"}"#, "rule"),
            (#"{"rule":"passphrase"}"#, "passphrase"),
            (#"{"rule":"passphrase","passphrase":"short"}"#, "passphrase"),
            (#"{"rule":"token","passphrase":"long enough"}"#, "passphrase"),
            (#"{"deny_networks":["10.0.0.0/33"]}"#, "deny_networks"),
            (#"{"allow_networks":["localhost"]}"#, "allow_networks"),
            (#"{"allow_regions":["de"]}"#, "allow_regions"),
            (#"{"deny_regions":["US-CALIFORNIA"]}"#, "deny_regions"),
        ]
    )
    func invalid(body: String, field: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let answer = try await server.ask("PUT", "/v1/rooms/show/access", body)
            #expect(answer.refusal == "400/3073", "\(answer.text)")
            #expect(answer.error?.message.contains(field) ?? false, "\(answer.text)")
            #expect(try server.directory.room("show").settings.audienceAccess == AudienceAccess())
        }
    }

    @Test("makes tickets for a room that does not exist yet, lists them by pages, and revokes one")
    func tickets() async throws {
        try await ControlServer.run { (server) async throws in
            let path = "/v1/rooms/gala/tickets"
            let start = Self.time(in: 3600)
            let body = """
                {"count":3,"name":"Ada","devices":2,"starts_at":"\(start)","expires_at":"\(Self.time(in: 7200))"}
                """
            let made = try await server.ask("POST", path, body)
            #expect(made.status == 201)
            let tickets = try made.decode(TicketList.self).tickets
            #expect(tickets.count == 3 && Set(tickets.map(\.ticket)).count == 3)
            let first = try #require(tickets.first)
            #expect(first.room == "gala" && first.name == "Ada" && first.devices == 2 && first.watching == 0)
            #expect(first.startsAt?.text == start)
            #expect(first.url.hasSuffix("/watch/gala?ticket=\(first.ticket)"))
            #expect(first.playback.rtmpURL.hasSuffix("/live/gala?ticket=\(first.ticket)"))
            let page = try await server.ask("GET", "\(path)?page_size=2").decode(TicketList.self)
            #expect(page.tickets == Array(tickets.sorted { $0.id < $1.id }.prefix(2)))
            let token = try #require(page.meta?.nextPageToken)
            let rest = try await server.ask("GET", "\(path)?page_size=2&page_token=\(token)").decode(TicketList.self)
            #expect(rest.tickets.count == 1 && rest.meta?.nextPageToken == nil)
            let revoked = try await server.ask("DELETE", "\(path)/\(first.id)").decode(TicketResource.self)
            #expect(revoked.revokedAt != nil)
            let again = try await server.ask("GET", "\(path)/\(first.id)").decode(TicketResource.self)
            #expect(again.revokedAt == revoked.revokedAt)
            #expect(try await server.ask("DELETE", "\(path)/TK0").refusal == "404/53413")
            // Tickets are secrets of their holders.
            #expect(!server.log.lines.contains { line in tickets.contains { line.description.contains($0.ticket) } })
        }
    }

    @Test("imports a table as a spreadsheet writes it, and exports one that can be imported again")
    func table() async throws {
        try await ControlServer.run { (server) async throws in
            let path = "/v1/rooms/gala/tickets"
            let end = Self.time(in: 7200)
            let table =
                "\u{FEFF}Name,devices,expires_at\r\n\"Ada, \"\"Lady\"\" L.\",2,\(end)\r\n=SUM(A1),,\(end)\r\n\r\n"
            let made = try await server.ask("POST", path, table, headers: Self.csv)
            #expect(made.status == 201, "\(made.text)")
            let tickets = try made.decode(TicketList.self).tickets
            #expect(tickets.map(\.name) == [#"Ada, "Lady" L."#, "=SUM(A1)"] && tickets.map(\.devices) == [2, 1])
            let exported = try await server.ask("GET", "\(path).csv")
            #expect(exported.headers["content-type"]?.hasPrefix("text/csv") ?? false)
            #expect(exported.text.contains(#""Ada, ""Lady"" L.",2,,\#(end)"#), "\(exported.text)")
            #expect(exported.text.contains("'=SUM(A1)"), "no formula")
            let again = try await server.ask("POST", "/v1/rooms/copy/tickets", exported.text, headers: Self.csv)
            let copies = try again.decode(TicketList.self).tickets
            #expect(copies.map(\.name).sorted() == tickets.map(\.name).sorted())
            #expect(Set(copies.map(\.ticket)).isDisjoint(with: tickets.map(\.ticket)))
            #expect(try await server.ask("GET", path, headers: ["Accept": "text/csv"]).text == exported.text)
        }
    }

    @Test(
        "refuses a table with a bad line as a whole, and names the line",
        arguments: [
            ("name\r\nAda", "the first line"),
            ("name,expires_at\r\nAda,tomorrow", "line 2"),
            ("devices,expires_at\r\ntwo,2027-01-01T00:00:00Z", "line 2"),
            ("name,expires_at\r\n\"Ada,2027-01-01T00:00:00Z", "a quote has no end"),
            ("", "the first line"), ("expires_at\r\n", "no line but the first"),
            ("devices,expires_at\r\n101,2027-01-01T00:00:00Z", "line 2: "),
        ]
    )
    func badTable(table: String, reason: String) async throws {
        try await ControlServer.run { (server) async throws in
            let answer = try await server.ask("POST", "/v1/rooms/gala/tickets", table, headers: Self.csv)
            #expect(answer.status == 400 && answer.text.contains(reason), "\(answer.text)")
            #expect(server.gate.tickets(of: "gala").isEmpty)
        }
    }

    @Test(
        "refuses tickets out of range",
        arguments: [
            #"{"expires_at":"2020-01-01T00:00:00Z"}"#, #"{"expires_at":"2099-01-01T00:00:00Z"}"#,
            #"{"devices":0,"expires_at":"$"}"#, #"{"devices":101,"expires_at":"$"}"#,
            #"{"count":0,"expires_at":"$"}"#, #"{"count":1001,"expires_at":"$"}"#,
            #"{"starts_at":"2099-01-01T00:00:00Z","expires_at":"$"}"#, #"{"name":"a\nb","expires_at":"$"}"#,
        ]
    )
    func ranges(body: String) async throws {
        try await ControlServer.run { (server) async throws in
            let body = body.replacing("$", with: Self.time(in: 60))
            #expect(try await server.ask("POST", "/v1/rooms/gala/tickets", body).refusal == "400/3073")
        }
    }

    @Test("only operators see and make tickets, and change who may watch")
    func rights() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let claims = AccessClaims(
                identity: "ann",
                role: .participant,
                room: "show",
                modes: [.receiveOnly],
                administers: ["streaming", "participants"],
                expiresAt: Date().timeIntervalSince1970 + 60
            )
            let ann = ControlServer.Bearer.token(try await server.tokens.issue(claims))
            for (method, path) in [
                ("GET", "tickets"), ("POST", "tickets"), ("DELETE", "tickets/TK0"), ("GET", "tickets.csv"),
                ("PUT", "access"),
            ] {
                let body = method == "GET" ? nil : "{}"
                #expect(try await server.ask(method, "/v1/rooms/show/\(path)", body, as: ann).refusal == "403/20106")
            }
            #expect(try await server.ask("GET", "/v1/rooms/show/access", as: ann).status == 200)
        }
    }

    @Test("a viewer is admitted by ticket or passphrase, keeps its session id, and is told why not")
    func admission() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let digest = server.gate.digest(of: "curtain call")
            server.gate.setAccess(AudienceAccess(rule: .passphrase, passphrase: digest), of: "show")
            let path = "/v1/rooms/show/admission"
            func ask(_ body: String?) async throws -> ControlServer.Answer {
                try await server.ask("POST", path, body, as: .unauthenticated)
            }
            #expect(try await ask(nil).refusal == "401/53410")
            #expect(try await ask(#"{"passphrase":"wrong one"}"#).refusal == "403/53411")
            #expect(try await ask(#"{"ticket":"x"}"#).refusal == "403/53413")
            let admitted = try await ask(#"{"passphrase":"curtain call"}"#)
            #expect(admitted.headers["cache-control"] == "no-store")
            // A page of another origin may ask, too.
            #expect(admitted.headers["access-control-allow-origin"] == "*")
            #expect(try await server.ask("OPTIONS", path, as: .unauthenticated).status == 204)
            let viewer = try admitted.decode(AdmissionResource.self)
            #expect(viewer.playback.hlsURL.hasSuffix("/live/show/index.m3u8?sid=\(viewer.sid)"))
            let again = try await ask(#"{"sid":"\#(viewer.sid)"}"#).decode(AdmissionResource.self)
            #expect(again.sid == viewer.sid)
            #expect(try await ask(#"{"sid":"junk"}"#).refusal == "401/53410")
            let order = "{\"expires_at\":\"\(Self.time(in: 60))\"}"
            let made = try await server.ask("POST", "/v1/rooms/show/tickets", order).decode(TicketList.self)
            let ticket = try #require(made.tickets.first)
            #expect(try await ask(#"{"ticket":"\#(ticket.ticket)"}"#).status == 200)
            #expect(try await ask(#"{"ticket":"\#(ticket.ticket)"}"#).refusal == "409/53417")
            #expect(try await ask(#"{"ticket":"\#(ticket.ticket)","take_over":true}"#).status == 200)
            #expect(try await server.ask("GET", "/v1/rooms/show/snapshot.jpg", as: .unauthenticated).status == 401)
        }
    }
}

@Suite("Addresses behind a proxy with TLS")
struct ProxiedAddressTests {
    private let addresses = PlaybackAddresses(host: "0.0.0.0", httpPort: 8080, rtmpPort: 1935, rtmpsPort: 1936)

    @Test(
        "HTTP addresses are those of the proxy, RTMP ones of the gateway",
        arguments: [
            ("live.example", "https://live.example"), ("live.example:443", "https://live.example"),
            ("live.example:8443", "https://live.example:8443"), ("[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
            ("live.example:0x1", "https://live.example"),
        ]
    )
    func proxy(authority: String, base: String) {
        let reached = addresses.reached(by: authority, isSecure: false, isSecureProxy: true)
        #expect(reached.hls("show") == "\(base)/live/show/index.m3u8")
        #expect(reached.rtmp("show").hasPrefix("rtmp://") && reached.rtmp("show").hasSuffix(":1935/live/show"))
    }

    @Test("without such a proxy, and without a host, addresses are the gateway's")
    func direct() {
        let reached = addresses.reached(by: "live.example:8080", isSecure: false)
        #expect(reached.hls("show") == "http://live.example:8080/live/show/index.m3u8")
        let unnamed = addresses.reached(by: nil, isSecure: false, isSecureProxy: true)
        #expect(unnamed.hls("show") == "http://0.0.0.0:8080/live/show/index.m3u8")
    }

    @Test("a public address replaces the host and the port of every request")
    func publicAddress() {
        var addresses = addresses
        addresses.publicURL = "https://live.example"
        for authority in ["10.0.0.1:8080", "evil.example", nil] {
            let reached = addresses.reached(by: authority, isSecure: false)
            #expect(reached.hls("show") == "https://live.example/live/show/index.m3u8")
            #expect(reached.watch("show") == "https://live.example/watch/show")
            #expect(reached.ingest == "rtmps://live.example:1936/live")
        }
    }
}
