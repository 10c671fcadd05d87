import Foundation
public import HTTPTypes
import Hummingbird
import Logging
import Media
import NIOCore

/// The routes for login and logout.
extension PageSite {
    private static let largestBody = 8 * 1024

    private struct LoginBody: Decodable {
        let token: String
    }

    private struct SessionAnswer: Encodable {
        let identity: String
        let mayCommand: Bool
        let warnings: [PageWarning]

        private enum CodingKeys: String, CodingKey {
            case identity
            case mayCommand = "may_command"
            case warnings
        }
    }

    func addSessions(to router: Router<PageContext>) {
        router.get("dashboard/session") { request, _ in
            guard let user = await user(of: request) else { return PageResponse.text(.unauthorized) }
            return try answer(user)
        }

        router.post("dashboard/session") { request, context in
            let origin = RequestOrigin(request)
            guard origin.isSameOrigin else { return PageResponse.text(.forbidden) }
            let account = account(request.headers, context.peer) ?? "unknown"
            let now = clock.now
            let delay = attempts.with { attempts in
                attempts.allowsRequest(from: account, now: now) ? nil : attempts.delay(of: account, now: now)
            }
            if let delay {
                var response = PageResponse.text(.tooManyRequests)
                response.headers[.retryAfter] = String(max(1, Int(delay.rounded(.up))))
                return response
            }
            let offered = await Self.offeredToken(request)
            let redeemed = if let offered { await redeem(offered) } else { String?.none }
            guard let token = redeemed ?? offered, let user = await verify(token) else {
                // The request's logger has the server's log level, which may be too high.
                if let count = refusedLogins.with({ $0.count(now: now) }) {
                    logger.notice("login refused", metadata: ["client": "\(account)", "refused": "\(count)"])
                }
                return PageResponse.text(.unauthorized)
            }
            attempts.with { $0.refundRequest(to: account, now: now) }
            let secret = changeSessions { sessions in
                // A new login replaces the former session.
                if let former = SessionCookie.secret(in: request) { sessions.close(former) }
                return sessions.open(token: token, agent: request.headers[.userAgent] ?? "", now: now)
            }
            var response = try answer(user)
            response.headers[.setCookie] = SessionCookie.setting(secret, isSecure: origin.isSecure)
            return response
        }

        router.delete("dashboard/session") { request, _ in
            let origin = RequestOrigin(request)
            guard origin.isSameOrigin else { return PageResponse.text(.forbidden) }
            if let secret = SessionCookie.secret(in: request) { changeSessions { $0.close(secret) } }
            return Response(
                status: .noContent,
                headers: [.setCookie: SessionCookie.removing(isSecure: origin.isSecure), .cacheControl: "no-store"]
            )
        }
    }

    private func answer(_ user: PageUser) throws -> Response {
        try PageResponse.json(
            SessionAnswer(identity: user.identity, mayCommand: user.mayCommand, warnings: warnings)
        )
    }

    /// Returns the token in a login's body; nil if the body is invalid.
    private static func offeredToken(_ request: Request) async -> String? {
        guard let body = try? await request.body.collect(upTo: largestBody) else { return nil }
        let login = try? JSONDecoder().decode(LoginBody.self, from: Data(body.readableBytesView))
        return login?.token.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension PageSite {
    /// Returns the request for the API, with the token and the id of the session that its cookie names.
    ///
    /// A request with its own token, or one that may not use the cookie, is unchanged. The API verifies the token each
    /// time, so that a revoked or expired token is refused.
    func admitted(_ request: Request) -> Request {
        guard request.headers[.authorization] == nil, let session = session(of: request) else { return request }
        var head = request.head
        head.headerFields[.authorization] = "Bearer \(session.token)"
        head.headerFields[.session] = session.id
        head.headerFields[.cookie] = nil
        return Request(head: head, body: request.body)
    }

    /// Returns the session in the cookie; nil if there is none or the request is cross-origin.
    func session(of request: Request) -> SessionStore.Entry? {
        guard let secret = SessionCookie.secret(in: request), RequestOrigin(request).isSameOrigin else { return nil }
        let now = clock.now
        return sessions.with { $0.use(secret, now: now) }
    }

    /// Opens or ends sessions, and stores them.
    func changeSessions<Result: Sendable>(_ change: (inout SessionStore) -> Result) -> Result {
        let now = clock.now
        return sessions.with { sessions in
            defer { store(sessions.logins(now: now, date: Date().timeIntervalSince1970)) }
            return change(&sessions)
        }
    }

    /// Returns a check of whether the session of a request to the API has ended since; nil for a request without one.
    ///
    /// - Parameter fields: The header fields as the API receives them.
    public func logoutCheck(_ fields: HTTPFields) -> (@Sendable () -> Bool)? {
        guard let id = fields[.session] else { return nil }
        return { [sessions, clock] in
            let now = clock.now
            return !sessions.with { $0.isOpen(id: id, now: now) }
        }
    }
}

extension HTTPField.Name {
    /// The id of the session whose token a request to the API has; a client that sets it names no other's token by it.
    static let session = Self("X-Footlight-Login") ?? .cookie
}
