import Foundation
public import HTTPTypes
public import Hummingbird
public import Logging
public import Media
import NIOCore

/// Serves the web pages: the operator's dashboard and the watch page.
///
/// The pages are static files plus a few routes: their data comes from the control API, which a browser accesses with a
/// session cookie instead of a token, and from the playlists. No page uses another origin.
public struct PageSite: Sendable {
    let verify: @Sendable (_ token: String) async -> PageUser?
    let audience: @Sendable (_ room: String) -> PageAudience?
    let mayKnow: @Sendable (_ room: String, _ sid: String?) -> Bool
    let describe: @Sendable (_ room: String) -> PageDescription?
    let redeem: @Sendable (_ code: String) async -> String?
    let account: @Sendable (_ fields: HTTPFields, _ peer: String?) -> String?
    let forward: @Sendable (_ request: Request) async -> Response?
    let clock: any MonotonicClock
    let warnings: [PageWarning]
    let logger: Logger
    let files: StaticFiles
    let sessions: LockedBox<SessionStore>
    let store: @Sendable (_ logins: [DashboardLogin]) -> Void
    let attempts: LockedBox<RateLimiter<String>>
    let refusedLogins: LockedBox<RefusedLoginLog>
    let audienceCache: LockedBox<AudienceCache>

    /// Creates the site from its dependencies.
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries by their names; without the one for charts the dashboard shows figures as
    ///     tables, and without the one for QR codes links alone.
    ///   - usesDeviceIDs: Whether persistent device ids are used; only then the watch page stores one.
    ///   - warnings: What an operator should change in the gateway's configuration, for the dashboard.
    ///   - logins: The sessions of an earlier run, which go on.
    ///   - store: Receives the sessions whenever one begins or ends; called under a lock, and must return at once.
    ///   - clock: The clock for the age of sessions.
    ///   - logger: The logger for refused logins.
    ///   - account: Returns the name under which a client's logins are rate-limited, from the header fields and the
    ///     peer's address; by default that address.
    ///   - verify: Returns the user of a token; nil if the token does not allow reading all rooms.
    ///   - audience: Returns the public audience of a room; nil if there is no such room.
    ///   - redeem: Returns a token for a login code; nil if the text is none, or no longer.
    ///   - forward: Returns the response of another gateway that has the room of a request; nil if none has.
    ///   - describe: Returns what a link to the watch page of a room shows; nil for its name alone.
    ///   - mayKnow: Whether the viewer with a session id may know the audience of a private room; true for others.
    public init(
        libraries: [String: String] = StaticFiles.libraries,
        usesDeviceIDs: Bool = false,
        warnings: [PageWarning] = [],
        logins: [DashboardLogin] = [],
        store: @escaping @Sendable (_ logins: [DashboardLogin]) -> Void = { _ in },
        clock: any MonotonicClock = SystemClock(),
        logger: Logger = Logger(label: "footlight.pages"),
        account: @escaping @Sendable (_ fields: HTTPFields, _ peer: String?) -> String? = { $1 },
        redeem: @escaping @Sendable (_ code: String) async -> String? = { _ in nil },
        forward: @escaping @Sendable (_ request: Request) async -> Response? = { _ in nil },
        describe: @escaping @Sendable (_ room: String) -> PageDescription? = { _ in nil },
        verify: @escaping @Sendable (_ token: String) async -> PageUser?,
        audience: @escaping @Sendable (_ room: String) -> PageAudience?,
        mayKnow: @escaping @Sendable (_ room: String, _ sid: String?) -> Bool = { _, _ in true }
    ) {
        self.verify = verify
        self.audience = audience
        self.mayKnow = mayKnow
        self.describe = describe
        self.forward = forward
        self.redeem = redeem
        self.account = account
        self.warnings = warnings
        self.clock = clock
        self.logger = logger
        files = StaticFiles(libraries: libraries, usesDeviceIDs: usesDeviceIDs)
        self.store = store
        sessions = LockedBox(SessionStore(logins, now: clock.now, date: Date().timeIntervalSince1970))
        attempts = LockedBox(.logins)
        refusedLogins = LockedBox(RefusedLoginLog())
        audienceCache = LockedBox(AudienceCache())
    }

    /// Returns a responder for the pages that forwards all other requests to the API.
    ///
    /// - Parameter api: The API's responder, which receives the session's token instead of the cookie.
    public func responder<API: HTTPResponder<BasicRequestContext>>(before api: API) -> PageResponder<API> {
        PageResponder(pages: self, router: router().buildResponder(), api: api)
    }

    func router() -> Router<PageContext> {
        let router = Router(context: PageContext.self)
        addFiles(to: router)
        addSessions(to: router)
        addSessionList(to: router)
        addWatchStatus(to: router)
        return router
    }
}

/// The user of the dashboard.
public struct PageUser: Sendable, Equatable {
    /// The identity in the token.
    public var identity: String
    /// Whether the user may change what is on air, or only read.
    public var mayCommand: Bool

    /// Creates a user.
    public init(identity: String, mayCommand: Bool) {
        self.identity = identity
        self.mayCommand = mayCommand
    }
}

/// What a link to a watch page shows.
public struct PageDescription: Sendable, Equatable {
    /// The title.
    public var title: String
    /// The description; empty for none.
    public var text: String

    /// Creates a description.
    public init(title: String, text: String) {
        self.title = title
        self.text = text
    }

    fileprivate var tags: String {
        var tags = [("og:type", "video.other"), ("og:title", title)]
        if !text.isEmpty { tags.append(("og:description", text)) }
        return tags.map { "<meta property=\"\($0.0)\" content=\"\($0.1.escaped)\">" }.joined(separator: "\n")
    }
}

extension String {
    /// The text with the characters escaped that HTML interprets.
    fileprivate var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}

/// A request context that provides the peer's address, by which logins are counted.
public struct PageContext: RequestContext {
    /// The storage that every context has.
    public var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    private let channel: any Channel

    /// Creates a context for a connection.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The address of the client, or of the proxy in front of it.
    var peer: String? { channel.remoteAddress?.ipAddress }

    /// The context of the same request for the API.
    var basic: BasicRequestContext {
        BasicRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
    }
}

/// The routes for the pages and their files.
extension PageSite {
    func addFiles(to router: Router<PageContext>) {
        router.get("dashboard") { request, _ in answer("dashboard.html", request) }
        router.get("watch/:room") { request, context in watchPage(request, context.parameters.get("room") ?? "") }
        router.get("site/**") { request, context in
            answer(context.parameters.getCatchAll().joined(separator: "/"), request)
        }
        for path in ["dashboard", "watch/:room", "site/**"] as [RouterPath] {
            router.head(path) { request, context in
                switch request.uri.path.split(separator: "/").first {
                case "dashboard": answer("dashboard.html", request)
                case "watch": watchPage(request, context.parameters.get("room") ?? "")
                default: answer(context.parameters.getCatchAll().joined(separator: "/"), request)
                }
            }
        }
    }

    /// Answers with the watch page, with what a link to it shows in the head (The Open Graph protocol).
    private func watchPage(_ request: Request, _ room: String) -> Response {
        guard let page = files["watch.html"], let description = describe(room) else {
            return answer("watch.html", request)
        }
        let head = "<title>\(description.title.escaped) · Footlight</title>\n\(description.tags)"
        let text = String(buffer: page.bytes).replacing("<title>Footlight</title>", with: head)
        return answer(StaticFile(text.utf8, name: "watch.html"), request)
    }

    private func answer(_ name: String, _ request: Request) -> Response {
        guard let file = files[name] else { return PageResponse.text(.notFound) }
        return answer(file, request)
    }

    private func answer(_ file: StaticFile, _ request: Request) -> Response {
        // Revalidated on each use, so that an update of the gateway updates the pages.
        var headers: HTTPFields = [.eTag: file.tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = file.contentType
        headers[.contentLength] = String(file.bytes.readableBytes)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.bytes))
    }
}

/// The routes for the watch page's status requests.
extension PageSite {
    private struct WatchAnswer: Encodable {
        /// Nil, like the viewers, for those who may not watch.
        let isOnAir: Bool?
        let viewers: Int?
        /// Milliseconds since 1970, by which the page sets its clock for the displayed delay.
        let now: Int

        private enum CodingKeys: String, CodingKey {
            case isOnAir = "on_air"
            case viewers
            case now
        }
    }

    /// Returns a room's audience, cached for a moment: counting it is costly, and many pages poll.
    private func recentAudience(of room: String) -> PageAudience? {
        let now = clock.now
        if let known = audienceCache.with({ $0.audience(of: room, now: now) }) { return known }
        guard let found = audience(room) else { return nil }
        audienceCache.with { $0.insert(found, of: room, now: now) }
        return found
    }

    func addWatchStatus(to router: Router<PageContext>) {
        router.get("watch/:room/status") { request, context in
            if let response = await forward(request) { return response }
            let room = context.parameters.get("room") ?? ""
            guard let audience = recentAudience(of: room) else { return PageResponse.text(.notFound) }
            let mayKnow = mayKnow(room, request.uri.queryParameters.get("sid"))
            return try PageResponse.json(
                WatchAnswer(
                    isOnAir: mayKnow ? audience.isOnAir : nil,
                    viewers: mayKnow ? audience.viewers : nil,
                    now: Int(Date().timeIntervalSince1970 * 1000)
                )
            )
        }
    }
}

/// Something that an operator should change in the gateway's configuration.
public struct PageWarning: Encodable, Sendable {
    /// The code by which the dashboard has the sentence in its languages.
    public var code: String
    /// The sentence in English.
    public var text: String

    /// Creates a warning.
    public init(code: String, text: String) {
        self.code = code
        self.text = text
    }
}
