import FootlightTesting
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Media
import NIOCore
import TestSupport
import Testing

@testable import Pages

@Suite("Dashboard login")
struct DashboardLoginTests {
    private static let warnings = #"[{"code":"without_tls","text":"a warning"}]"#

    @Test("exchanges a token for a cookie that neither scripts nor other sites can use")
    func cookie() async throws {
        let fixture = PageFixture()
        let answer = try await fixture.logIn("operator-token")
        #expect(answer.status == 200)
        #expect(answer.text == #"{"identity":"ada","may_command":true,"warnings":\#(Self.warnings)}"#)
        let field = try #require(answer.headers[.setCookie])
        for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=604800"] { #expect(field.contains(part)) }
        #expect(!field.contains("Secure") && !field.contains("operator-token"))
        let secure = try await fixture.logIn(
            "operator-token",
            headers: PageFixture.ours.merging([HTTPField.Name("X-Forwarded-Proto") ?? .cookie: "https"]) { $1 }
        )
        #expect(secure.headers[.setCookie]?.hasSuffix("; Secure") == true)
        #expect(secure.cookie != answer.cookie)
        let looking = try await fixture.logIn("monitor-token")
        #expect(looking.text == #"{"identity":"eve","may_command":false,"warnings":\#(Self.warnings)}"#)
    }

    @Test("over TLS the cookie has the __Host- prefix, and only that name is accepted")
    func secureCookie() async throws {
        let fixture = PageFixture()
        let proto = [HTTPField.Name("X-Forwarded-Proto") ?? .cookie: "https"]
        let secure = PageFixture.ours.merging(proto) { $1 }
        let plainCookie = try #require(try await fixture.logIn("operator-token").cookie)
        #expect(plainCookie.hasPrefix("footlight_session="))
        let answer = try await fixture.logIn("monitor-token", headers: secure)
        let field = try #require(answer.headers[.setCookie])
        // The attributes that the prefix requires.
        #expect(field.hasPrefix("__Host-footlight_session=") && field.hasSuffix("; Secure"))
        #expect(field.contains("; Path=/;") && !field.contains("Domain"))
        let cookie = try #require(answer.cookie)

        func said(_ cookies: String, _ headers: [HTTPField.Name: String]) async throws -> String {
            try await fixture.ask(.get, "/v1/rooms", headers: headers, cookie: cookies).text
        }
        for headers in [proto, [:]] {
            #expect(try await said(cookie, headers) == "Bearer monitor-token")
            // Whatever cookie precedes it.
            #expect(try await said("\(plainCookie); \(cookie)", headers) == "Bearer monitor-token")
        }
        #expect(try await said(plainCookie, [:]) == "Bearer operator-token")
        #expect(try await said(plainCookie, proto) == "nothing")

        let out = try await fixture.ask(.delete, "/dashboard/session", headers: secure, cookie: cookie)
        let removal = try #require(out.headers[.setCookie])
        #expect(removal.hasPrefix("__Host-footlight_session=;") && removal.hasSuffix("; Secure"), "\(removal)")
        #expect(try await said(cookie, [:]) == "nothing")
    }

    @Test("the cookie grants API access like the token, to same-origin pages only")
    func admission() async throws {
        let fixture = PageFixture()
        let cookie = try #require(try await fixture.logIn("operator-token").cookie)
        let bearer = "Bearer operator-token"
        func said(_ method: HTTPRequest.Method, _ headers: [HTTPField.Name: String]) async throws -> String {
            try await fixture.ask(method, "/v1/rooms", headers: headers, cookie: cookie).text
        }
        #expect(try await said(.get, [:]) == bearer)
        #expect(try await said(.get, PageFixture.ours) == bearer)
        #expect(try await said(.post, PageFixture.ours) == bearer)
        #expect(try await said(.delete, [PageFixture.page: "1"]) == bearer)
        // A form of another page, on this host or elsewhere.
        #expect(try await said(.post, [:]) == "nothing")
        #expect(try await said(.post, [.origin: "http://\(PageFixture.host)"]) == "nothing")
        #expect(try await said(.post, [PageFixture.page: "1", .origin: "http://gateway.example:9000"]) == "nothing")
        #expect(try await said(.post, [PageFixture.page: "1", .origin: "null"]) == "nothing")
        for site in ["cross-site", "same-site"] {
            #expect(try await said(.get, [PageFixture.secFetchSite: site]) == "nothing", "\(site)")
        }
        #expect(try await said(.post, [PageFixture.page: "1", PageFixture.secFetchSite: "none"]) == "nothing")
        // An explicit token takes precedence.
        #expect(try await said(.get, [.authorization: "Bearer mine"]) == "Bearer mine")
        let forged = try await fixture.ask(.get, "/v1/rooms", cookie: "footlight_session=operator-token")
        #expect(forged.text == "nothing")
    }

    @Test("logout ends the session for every copy of the cookie")
    func logout() async throws {
        let fixture = PageFixture()
        let cookie = try #require(try await fixture.logIn("operator-token").cookie)
        #expect(try await fixture.ask(.get, "/dashboard/session", cookie: cookie).status == 200)
        #expect(try await fixture.ask(.delete, "/dashboard/session", cookie: cookie).status == 403)
        let out = try await fixture.ask(.delete, "/dashboard/session", headers: PageFixture.ours, cookie: cookie)
        #expect(out.status == 204 && out.headers[.setCookie]?.contains("Max-Age=0") == true)
        #expect(try await fixture.ask(.get, "/dashboard/session", cookie: cookie).status == 401)
        #expect(try await fixture.ask(.get, "/v1/rooms", cookie: cookie).text == "nothing")
    }

    @Test("an operator lists the sessions with who, since when and last used, and ends one, which is logged out")
    func sessions() async throws {
        let (clock, log) = (ManualClock(), LogCapture(level: .info))
        let fixture = PageFixture(clock: clock, logger: log.logger)
        let named = PageFixture.ours.merging([.userAgent: String(repeating: "Firefox", count: 100)]) { $1 }
        let own = try #require(try await fixture.logIn("operator-token", headers: named).cookie)
        clock.advance(by: .seconds(60))
        let other = try #require(try await fixture.logIn("monitor-token").cookie)
        clock.advance(by: .seconds(30))
        let answer = try await fixture.ask(.get, "/dashboard/sessions", cookie: own)
        #expect(answer.status == 200 && answer.headers[.cacheControl] == "no-store")
        let listed = try JSONValue(parsing: answer.text)["sessions"].elements
        try #require(listed.count == 2)
        #expect(listed.map { $0["identity"].string } == ["ada", "eve"])
        #expect(listed.map { $0["may_command"].bool } == [true, false])
        #expect(listed.map { $0["own"].bool } == [true, false])
        #expect(listed.map { $0["user_agent"].string?.count } == [200, 0])
        func age(_ value: JSONValue) -> Double { Date().timeIntervalSince1970 - (value.double ?? 0) }
        #expect(abs(age(listed[0]["started_at"]) - 90) < 10 && abs(age(listed[1]["started_at"]) - 30) < 10)
        #expect(age(listed[0]["used_at"]) < 10)
        // The ids are not the secrets of the cookies.
        for cookie in [own, other] {
            let secret = String(cookie.split(separator: "=")[1])
            #expect(!answer.text.contains(secret))
            let path = "/dashboard/sessions/\(secret)"
            #expect(try await fixture.ask(.delete, path, headers: PageFixture.ours, cookie: own).status == 204)
        }
        #expect(try await fixture.ask(.get, "/dashboard/session", cookie: other).status == 200)

        let path = "/dashboard/sessions/\(listed[1]["id"].string ?? "")"
        for _ in 0..<2 {
            #expect(try await fixture.ask(.delete, path, headers: PageFixture.ours, cookie: own).status == 204)
        }
        #expect(try await fixture.ask(.get, "/dashboard/session", cookie: other).status == 401)
        #expect(try await fixture.ask(.get, "/v1/rooms", cookie: other).text == "nothing")
        #expect(try await fixture.ask(.get, "/dashboard/session", cookie: own).status == 200)
        #expect(log.lines.count { $0.message == "dashboard session ended" && $0.metadata["by"] == "ada" } == 1)
    }

    @Test("the API is told of which session a request is, and when that has ended")
    func logoutCheck() async throws {
        let clock = ManualClock()
        let fixture = PageFixture(clock: clock)
        let cookies = try await [fixture.logIn("operator-token"), fixture.logIn("operator-token")].map(\.cookie)
        let checks = try cookies.map { cookie in
            try #require(fixture.pages.logoutCheck(fixture.admitted("/v1/events", cookie: cookie).headers))
        }
        #expect(checks.map { $0() } == [false, false])
        #expect(fixture.pages.logoutCheck(fixture.admitted("/v1/events").headers) == nil)
        _ = try await fixture.ask(.delete, "/dashboard/session", headers: PageFixture.ours, cookie: cookies[0])
        #expect(checks.map { $0() } == [true, false])
        clock.advance(by: .seconds(SessionStore.idleLimit + 1))
        #expect(checks.map { $0() } == [true, true])
    }

    @Test("neither monitors nor pages of other origins list or end sessions")
    func sessionRights() async throws {
        let fixture = PageFixture()
        let cookie = try #require(try await fixture.logIn("operator-token").cookie)
        let monitor = try #require(try await fixture.logIn("monitor-token").cookie)
        let (list, path) = ("/dashboard/sessions", "/dashboard/sessions/x")
        #expect(try await fixture.ask(.get, list).status == 401)
        #expect(try await fixture.ask(.delete, path, headers: PageFixture.ours).status == 401)
        #expect(try await fixture.ask(.get, list, cookie: monitor).status == 403)
        #expect(try await fixture.ask(.delete, path, headers: PageFixture.ours, cookie: monitor).status == 403)
        let foreign = [PageFixture.secFetchSite: "same-site"]
        #expect(try await fixture.ask(.get, list, headers: foreign, cookie: cookie).status == 401)
        #expect(try await fixture.ask(.delete, path, cookie: cookie).status == 403)
        let elsewhere = [PageFixture.page: "1", .origin: "http://gateway.example:9000"]
        #expect(try await fixture.ask(.delete, path, headers: elsewhere, cookie: cookie).status == 403)
        #expect(try await fixture.ask(.post, list, headers: PageFixture.ours, cookie: cookie).status == 405)
    }

    @Test("refuses wrong tokens, and after several of them every login of the address")
    func wrongTokens() async throws {
        let clock = ManualClock()
        let fixture = PageFixture(clock: clock)
        for body in ["", "{", #"{"token":7}"#, #"{"token":"guess"}"#, String(repeating: "x", count: 10_000)] {
            let answer = try await fixture.ask(.post, "/dashboard/session", headers: PageFixture.ours, body: body)
            #expect(answer.status == 401 && answer.cookie == nil, "\(body.prefix(20))")
        }
        let refused = try await fixture.logIn("operator-token")
        #expect(refused.status == 429 && refused.headers[.retryAfter] == "10" && refused.cookie == nil)
        clock.advance(by: .seconds(10))
        #expect(try await fixture.logIn("operator-token").status == 200)
    }

    @Test("logs refused logins at a limited rate, without tokens, and no successful ones")
    func logged() async throws {
        let (clock, log) = (ManualClock(), LogCapture(level: .info))
        let client = HTTPField.Name("X-Client") ?? .cookie
        let fixture = PageFixture(clock: clock, logger: log.logger) { fields, _ in fields[client] }
        func logIn(_ token: String, as name: String) async throws {
            _ = try await fixture.logIn(token, headers: PageFixture.ours.merging([client: name]) { $1 })
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

    @Test("other methods are 405 with Allow")
    func methods() async throws {
        let fixture = PageFixture()
        for (path, allowed) in [
            ("/dashboard", "GET, HEAD"), ("/watch/show", "GET, HEAD"), ("/site/x.js", "GET, HEAD"),
            ("/dashboard/session", "GET, HEAD, POST, DELETE"), ("/dashboard/sessions", "GET, HEAD"),
            ("/dashboard/sessions/x", "DELETE"),
        ] {
            let answer = try await fixture.ask(.put, path, headers: PageFixture.ours)
            #expect(answer.status == 405 && answer.headers[.allow] == allowed, "\(path)")
        }
    }

    @Test("a page of another origin cannot log in")
    func foreignLogin() async throws {
        let fixture = PageFixture()
        let foreign: [[HTTPField.Name: String]] = [
            [:], [.origin: "http://evil.example", PageFixture.page: "1"],
            [PageFixture.page: "1", PageFixture.secFetchSite: "cross-site"],
        ]
        for headers in foreign {
            #expect(try await fixture.logIn("operator-token", headers: headers).status == 403, "\(headers)")
        }
    }

    @Test("counts logins by the client that the gateway determined, not by client-supplied fields")
    func accounts() async throws {
        let client = HTTPField.Name("X-Client") ?? .cookie
        let forwarded = HTTPField.Name("X-Forwarded-For") ?? .cookie
        let fixture = PageFixture(clock: ManualClock()) { fields, _ in fields[client] }
        func guess(as name: String, claiming other: String) async throws -> Int {
            let headers = PageFixture.ours.merging([client: name, forwarded: other]) { $1 }
            return try await fixture.logIn("guess", headers: headers).status
        }
        for number in 0..<5 { #expect(try await guess(as: "a", claiming: "9.9.9.\(number)") == 401) }
        #expect(try await guess(as: "a", claiming: "9.9.9.9") == 429)
        #expect(try await guess(as: "b", claiming: "9.9.9.9") == 401)
        // Clients without a known address count as one.
        let plain = PageFixture(clock: ManualClock())
        for _ in 0..<5 { #expect(try await plain.logIn("guess").status == 401) }
        #expect(try await plain.logIn("guess").status == 429)
    }
}

@Suite("Dashboard sessions")
struct SessionStoreTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test("a session stands for its token until it is closed; other secrets do not")
    func life() {
        var book = SessionStore()
        let secret = book.open(token: "first", now: start)
        let other = book.open(token: "second", now: start)
        #expect(secret != other && secret.count == 43)
        #expect(secret.utf8.allSatisfy { $0 != UInt8(ascii: ";") && $0 > 0x20 && $0 < 0x7F })
        #expect(book.use(secret, now: start)?.token == "first")
        #expect(book.use(secret + "x", now: start)?.token == nil && book.use("", now: start)?.token == nil)
        book.close(secret)
        #expect(book.use(secret, now: start)?.token == nil && book.use(other, now: start)?.token == "second")
    }

    @Test("a used session expires after a week, an idle one after twelve hours")
    func limits() {
        var book = SessionStore()
        let (used, unused) = (book.open(token: "used", now: start), book.open(token: "unused", now: start))
        var now = start
        for _ in 0..<13 {
            now = now.advanced(seconds: SessionStore.idleLimit - 1)
            #expect(book.use(used, now: now)?.token == "used")
        }
        #expect(book.use(unused, now: now)?.token == nil)
        #expect(book.use(used, now: start.advanced(seconds: SessionStore.ageLimit + 1))?.token == nil)
        #expect(book.count == 0)
    }

    @Test("a session goes on after a restart, without its secret on disk, and ends a week after its login all the same")
    func restart() throws {
        var book = SessionStore()
        let secret = book.open(token: "first", agent: "Browser", now: start)
        let ended = book.open(token: "second", now: start)
        book.close(ended)
        let stored = book.logins(now: start.advanced(seconds: 3600), date: 1_003_600)
        #expect(try !String(decoding: JSONEncoder().encode(stored), as: UTF8.self).contains(secret))

        // The clock of another process begins anew; an hour has passed.
        let later = MonotonicTime(nanoseconds: 5_000_000_000)
        var next = SessionStore(stored, now: later, date: 1_007_200)
        let used = next.use(secret, now: later)
        let session = try #require(used)
        #expect(session.token == "first" && session.agent == "Browser" && next.isOpen(id: session.id, now: later))
        #expect(next.use(ended, now: later) == nil)
        var now = later
        for _ in 0..<14 where next.use(secret, now: now) != nil { now = now.advanced(seconds: 43_000) }
        #expect(now.seconds(since: later) > 500_000 && now.seconds(since: later) < 7 * 86_400)
        #expect(next.use(secret, now: later.advanced(seconds: 7 * 86_400 - 7_100)) == nil)
    }

    @Test("evicts the least recently used session at capacity")
    func capacity() {
        var book = SessionStore()
        let secrets = (0..<SessionStore.capacity).map {
            book.open(token: "\($0)", now: start.advanced(seconds: Double($0)))
        }
        let later = start.advanced(seconds: 1000)
        #expect(book.use(secrets[0], now: later)?.token == "0")
        let newest = book.open(token: "new", now: later)
        #expect(book.count == SessionStore.capacity)
        #expect(book.use(secrets[0], now: later)?.token == "0" && book.use(newest, now: later)?.token == "new")
        #expect(book.use(secrets[1], now: later)?.token == nil)
    }
}
