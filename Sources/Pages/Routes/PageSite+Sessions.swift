import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Media
import NIOCore

/// Logging in and out.
extension PageSite {
    private static let largestBody = 8 * 1024

    private struct LoginBody: Decodable {
        let token: String
    }

    private struct SessionAnswer: Encodable {
        let identity: String
        let mayCommand: Bool

        private enum CodingKeys: String, CodingKey {
            case identity
            case mayCommand = "may_command"
        }
    }

    func addSessions(to router: Router<PageContext>) {
        router.get("dashboard/session") { request, _ in
            guard let token = token(of: request), let user = await verify(token) else {
                return PageReply.text(.unauthorized)
            }
            return try Self.answer(user)
        }

        router.post("dashboard/session") { request, context in
            let origin = RequestOrigin(request)
            guard origin.isOwn else { return PageReply.text(.forbidden) }
            let account = account(request.headers, context.peer) ?? "unknown"
            let now = clock.now
            if let seconds = attempts.with({ $0.take(from: account, now: now) }) {
                var response = PageReply.text(.tooManyRequests)
                response.headers[.retryAfter] = String(seconds)
                return response
            }
            guard let token = await Self.offeredToken(request), let user = await verify(token) else {
                // Not the logger of the request, which is the server's and as quiet as that is.
                if let count = refusedLogins.with({ $0.count(now: now) }) {
                    logger.notice("login refused", metadata: ["client": "\(account)", "refused": "\(count)"])
                }
                return PageReply.text(.unauthorized)
            }
            attempts.with { $0.giveBack(to: account, now: now) }
            let secret = sessions.with { sessions in
                // Who logs in again is somebody else from then on.
                if let former = SessionCookie.secret(in: request) { sessions.close(former) }
                return sessions.open(token: token, now: now)
            }
            var response = try Self.answer(user)
            response.headers[.setCookie] = SessionCookie.setting(secret, isSecure: origin.isSecure)
            return response
        }

        router.delete("dashboard/session") { request, _ in
            let origin = RequestOrigin(request)
            guard origin.isOwn else { return PageReply.text(.forbidden) }
            if let secret = SessionCookie.secret(in: request) { sessions.with { $0.close(secret) } }
            return Response(
                status: .noContent,
                headers: [.setCookie: SessionCookie.removing(isSecure: origin.isSecure), .cacheControl: "no-store"]
            )
        }
    }

    private static func answer(_ user: PageUser) throws -> Response {
        try PageReply.json(SessionAnswer(identity: user.identity, mayCommand: user.mayCommand))
    }

    /// The token in a login's body; nil for anything else.
    private static func offeredToken(_ request: Request) async -> String? {
        guard let body = try? await request.body.collect(upTo: largestBody) else { return nil }
        let login = try? JSONDecoder().decode(LoginBody.self, from: Data(body.readableBytesView))
        return login?.token.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
