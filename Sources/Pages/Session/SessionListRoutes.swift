import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Media

/// The routes by which operators list and end the sessions of the dashboard.
extension PageSite {
    private struct SessionEntry: Encodable {
        let id: String
        let identity: String
        let mayCommand: Bool
        /// Seconds since 1970, like the other time.
        let startedAt: Int
        let usedAt: Int
        /// The browser, as it names itself.
        let agent: String
        /// Whether it is the session of the request.
        let isOwn: Bool

        private enum CodingKeys: String, CodingKey {
            case id
            case identity
            case mayCommand = "may_command"
            case startedAt = "started_at"
            case usedAt = "used_at"
            case agent = "user_agent"
            case isOwn = "own"
        }
    }

    private struct SessionListAnswer: Encodable {
        let sessions: [SessionEntry]
    }

    func addSessionList(to router: Router<PageContext>) {
        router.get("dashboard/sessions") { request, _ in
            guard let user = await user(of: request) else { return PageResponse.text(.unauthorized) }
            guard user.mayCommand else { return PageResponse.text(.forbidden) }
            let (now, own) = (clock.now, SessionCookie.secret(in: request) ?? "")
            let (present, ownID) = sessions.with { ($0.present(now: now), $0.id(of: own)) }
            let time = Date().timeIntervalSince1970
            var entries: [SessionEntry] = []
            for session in present {
                // One whose token was revoked or has expired is of no use.
                guard let user = await verify(session.token) else { continue }
                entries.append(
                    SessionEntry(
                        id: session.id,
                        identity: user.identity,
                        mayCommand: user.mayCommand,
                        startedAt: Int(time - now.seconds(since: session.openedAt)),
                        usedAt: Int(time - now.seconds(since: session.usedAt)),
                        agent: session.agent,
                        isOwn: session.id == ownID
                    )
                )
            }
            return try PageResponse.json(SessionListAnswer(sessions: entries))
        }

        router.delete("dashboard/sessions/:session") { request, context in
            guard RequestOrigin(request).isSameOrigin else { return PageResponse.text(.forbidden) }
            guard let user = await user(of: request) else { return PageResponse.text(.unauthorized) }
            guard user.mayCommand else { return PageResponse.text(.forbidden) }
            let id = context.parameters.get("session") ?? ""
            if changeSessions({ $0.close(id: id) }) {
                logger.notice("dashboard session ended", metadata: ["session": "\(id)", "by": "\(user.identity)"])
            }
            // One that is over already is no error, as with a logout.
            return Response(status: .noContent, headers: [.cacheControl: "no-store"])
        }
    }

    /// Returns the user of the session in the cookie; nil without one.
    func user(of request: Request) async -> PageUser? {
        guard let session = session(of: request) else { return nil }
        return await verify(session.token)
    }
}
