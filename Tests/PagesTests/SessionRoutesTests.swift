import FootlightTesting
import HTTPTypes
import Hummingbird
import Logging
import Media
import NIOCore
import Testing

@testable import Pages

@Suite("Logging in to the dashboard")
struct SessionRoutesTests {
    @Test("A token is exchanged for a cookie that no script and no other site can use")
    func cookie() async throws {
        let stand = PageStand()
        let answer = try await stand.logIn("operator-token")
        #expect(answer.status == 200 && answer.text == #"{"identity":"ada","may_command":true}"#)
        let field = try #require(answer.headers[.setCookie])
        for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=604800"] { #expect(field.contains(part)) }
        #expect(!field.contains("Secure") && !field.contains("operator-token"))
        let secure = try await stand.logIn(
            "operator-token",
            headers: PageStand.ours.merging([HTTPField.Name("X-Forwarded-Proto") ?? .cookie: "https"]) { $1 }
        )
        #expect(secure.headers[.setCookie]?.hasSuffix("; Secure") == true)
        #expect(secure.cookie != answer.cookie)
        let looking = try await stand.logIn("monitor-token")
        #expect(looking.text == #"{"identity":"eve","may_command":false}"#)
    }

    @Test("By TLS the cookie has a name that a browser takes from nobody else, and no other counts there")
    func secureCookie() async throws {
        let stand = PageStand()
        let proto = [HTTPField.Name("X-Forwarded-Proto") ?? .cookie: "https"]
        let secure = PageStand.ours.merging(proto) { $1 }
        let plainCookie = try #require(try await stand.logIn("operator-token").cookie)
        #expect(plainCookie.hasPrefix("footlight_session="))
        let answer = try await stand.logIn("monitor-token", headers: secure)
        let field = try #require(answer.headers[.setCookie])
        // What the prefix asks for; a browser takes the cookie with nothing less.
        #expect(field.hasPrefix("__Host-footlight_session=") && field.hasSuffix("; Secure"))
        #expect(field.contains("; Path=/;") && !field.contains("Domain"))
        let cookie = try #require(answer.cookie)

        func said(_ cookies: String, _ headers: [HTTPField.Name: String]) async throws -> String {
            try await stand.ask(.get, "/v1/rooms", headers: headers, cookie: cookies).text
        }
        for headers in [proto, [:]] {
            #expect(try await said(cookie, headers) == "Bearer monitor-token")
            // Whatever stands before it.
            #expect(try await said("\(plainCookie); \(cookie)", headers) == "Bearer monitor-token")
        }
        #expect(try await said(plainCookie, [:]) == "Bearer operator-token")
        #expect(try await said(plainCookie, proto) == "nothing")

        let out = try await stand.ask(.delete, "/dashboard/session", headers: secure, cookie: cookie)
        let removal = try #require(out.headers[.setCookie])
        #expect(removal.hasPrefix("__Host-footlight_session=;") && removal.hasSuffix("; Secure"), "\(removal)")
        #expect(try await said(cookie, [:]) == "nothing")
    }

    @Test("The cookie opens the API like the token, and only to our own pages")
    func admission() async throws {
        let stand = PageStand()
        let cookie = try #require(try await stand.logIn("operator-token").cookie)
        let bearer = "Bearer operator-token"
        func said(_ method: HTTPRequest.Method, _ headers: [HTTPField.Name: String]) async throws -> String {
            try await stand.ask(method, "/v1/rooms", headers: headers, cookie: cookie).text
        }
        #expect(try await said(.get, [:]) == bearer)
        #expect(try await said(.get, PageStand.ours) == bearer)
        #expect(try await said(.post, PageStand.ours) == bearer)
        #expect(try await said(.delete, [PageStand.page: "1"]) == bearer)
        // A form of another page, on this host or elsewhere.
        #expect(try await said(.post, [:]) == "nothing")
        #expect(try await said(.post, [.origin: "http://\(PageStand.host)"]) == "nothing")
        #expect(try await said(.post, [PageStand.page: "1", .origin: "http://gateway.example:9000"]) == "nothing")
        #expect(try await said(.post, [PageStand.page: "1", .origin: "null"]) == "nothing")
        for site in ["cross-site", "same-site"] {
            #expect(try await said(.get, [PageStand.secFetchSite: site]) == "nothing", "\(site)")
        }
        #expect(try await said(.post, [PageStand.page: "1", PageStand.secFetchSite: "none"]) == "nothing")
        // A token of its own goes first.
        #expect(try await said(.get, [.authorization: "Bearer mine"]) == "Bearer mine")
        let forged = try await stand.ask(.get, "/v1/rooms", cookie: "footlight_session=operator-token")
        #expect(forged.text == "nothing")
    }

    @Test("Logging out ends the session for everybody who has the cookie")
    func logout() async throws {
        let stand = PageStand()
        let cookie = try #require(try await stand.logIn("operator-token").cookie)
        #expect(try await stand.ask(.get, "/dashboard/session", cookie: cookie).status == 200)
        #expect(try await stand.ask(.delete, "/dashboard/session", cookie: cookie).status == 403)
        let out = try await stand.ask(.delete, "/dashboard/session", headers: PageStand.ours, cookie: cookie)
        #expect(out.status == 204 && out.headers[.setCookie]?.contains("Max-Age=0") == true)
        #expect(try await stand.ask(.get, "/dashboard/session", cookie: cookie).status == 401)
        #expect(try await stand.ask(.get, "/v1/rooms", cookie: cookie).text == "nothing")
    }

    @Test("Wrong tokens are refused, after a few of them all tries of the address are")
    func wrongTokens() async throws {
        let clock = ManualClock()
        let stand = PageStand(clock: clock)
        for body in ["", "{", #"{"token":7}"#, #"{"token":"guess"}"#, String(repeating: "x", count: 10_000)] {
            let answer = try await stand.ask(.post, "/dashboard/session", headers: PageStand.ours, body: body)
            #expect(answer.status == 401 && answer.cookie == nil, "\(body.prefix(20))")
        }
        let refused = try await stand.logIn("operator-token")
        #expect(refused.status == 429 && refused.headers[.retryAfter] == "10" && refused.cookie == nil)
        clock.advance(by: .seconds(10))
        #expect(try await stand.logIn("operator-token").status == 200)
    }

    @Test("Refused logins are logged, a flood of them now and then, and neither token nor what is let in is")
    func logged() async throws {
        let (clock, log) = (ManualClock(), RecordingLog(level: .info))
        let client = HTTPField.Name("X-Client") ?? .cookie
        let stand = PageStand(clock: clock, logger: log.logger) { fields, _ in fields[client] }
        func logIn(_ token: String, as name: String) async throws {
            _ = try await stand.logIn(token, headers: PageStand.ours.merging([client: name]) { $1 })
        }
        try await logIn("guess", as: "192.0.2.1")
        #expect(log.lines.map(\.description) == ["notice login refused client=192.0.2.1 refused=1"])
        try await logIn("operator-token", as: "192.0.2.1")
        for number in 0..<100 { try await logIn("guess", as: "192.0.2.\(number + 2)") }
        #expect(log.lines.count == 5)
        clock.advance(by: .seconds(10))
        try await logIn("guess", as: "192.0.2.200")
        #expect(log.lines.count == 6)
        #expect(log.lines.last?.description == "notice login refused client=192.0.2.200 refused=97")
        #expect(!"\(log.lines)".contains("guess") && !"\(log.lines)".contains("token"))
    }

    @Test("Other methods are 405 with those there are")
    func methods() async throws {
        let stand = PageStand()
        for (path, allowed) in [
            ("/dashboard", "GET, HEAD"), ("/watch/show", "GET, HEAD"), ("/site/x.js", "GET, HEAD"),
            ("/dashboard/session", "GET, HEAD, POST, DELETE"),
        ] {
            let answer = try await stand.ask(.put, path, headers: PageStand.ours)
            #expect(answer.status == 405 && answer.headers[.allow] == allowed, "\(path)")
        }
    }

    @Test("Another page cannot log anybody in")
    func foreignLogin() async throws {
        let stand = PageStand()
        let foreign: [[HTTPField.Name: String]] = [
            [:], [.origin: "http://evil.example", PageStand.page: "1"],
            [PageStand.page: "1", PageStand.secFetchSite: "cross-site"],
        ]
        for headers in foreign {
            #expect(try await stand.logIn("operator-token", headers: headers).status == 403, "\(headers)")
        }
    }

    @Test("Tries are counted by whom the gateway takes the client to be, and by nothing that the client writes")
    func accounts() async throws {
        let client = HTTPField.Name("X-Client") ?? .cookie
        let forwarded = HTTPField.Name("X-Forwarded-For") ?? .cookie
        let stand = PageStand(clock: ManualClock()) { fields, _ in fields[client] }
        func guess(as name: String, claiming other: String) async throws -> Int {
            let headers = PageStand.ours.merging([client: name, forwarded: other]) { $1 }
            return try await stand.logIn("guess", headers: headers).status
        }
        for number in 0..<5 { #expect(try await guess(as: "a", claiming: "9.9.9.\(number)") == 401) }
        #expect(try await guess(as: "a", claiming: "9.9.9.9") == 429)
        #expect(try await guess(as: "b", claiming: "9.9.9.9") == 401)
        // Whose address nobody knows are one.
        let plain = PageStand(clock: ManualClock())
        for _ in 0..<5 { #expect(try await plain.logIn("guess").status == 401) }
        #expect(try await plain.logIn("guess").status == 429)
    }
}
