public import HTTPTypes
public import Hummingbird
public import Logging
public import Media

/// The pages a browser shows: the operator's dashboard and the page to watch a room on.
///
/// They are files and a thin door: everything they show comes from the control API, which a browser reaches by a
/// session cookie in place of a token, and from the playlists. No file and no request of theirs leads to another origin.
public struct PageSite: Sendable {
    let verify: @Sendable (_ token: String) async -> PageUser?
    let audience: @Sendable (_ room: String) -> PageAudience?
    let account: @Sendable (_ fields: HTTPFields, _ peer: String?) -> String?
    let clock: any MonotonicClock
    let logger: Logger
    let files: StaticFiles
    let sessions: Guarded<SessionBook>
    let attempts: Guarded<LoginBudget>
    let refusedLogins: Guarded<RefusedLogins>
    let watched: Guarded<AudienceCache>

    /// Takes what the pages ask.
    ///
    /// - Parameters:
    ///   - chartLibrary: The file of the chart library; where it is missing the dashboard shows its figures as tables.
    ///   - takesDevices: Whether ids that devices keep for themselves are used: the watch page keeps one only then.
    ///   - clock: For the age of sessions.
    ///   - logger: Where refused logins are written down.
    ///   - account: Under which name the logins of one client are counted together, by the fields of its request and the
    ///     address at the other end of its connection; unless given, by that alone.
    ///   - verify: Who a token lets in; nil for a token that lets nobody look at every room.
    ///   - audience: What everybody may know of a room's audience; nil where there is no such room.
    public init(
        chartLibrary: String = StaticFiles.chartLibrary,
        takesDevices: Bool = false,
        clock: any MonotonicClock = SystemClock(),
        logger: Logger = Logger(label: "footlight.pages"),
        account: @escaping @Sendable (_ fields: HTTPFields, _ peer: String?) -> String? = { $1 },
        verify: @escaping @Sendable (_ token: String) async -> PageUser?,
        audience: @escaping @Sendable (_ room: String) -> PageAudience?
    ) {
        self.verify = verify
        self.audience = audience
        self.account = account
        self.clock = clock
        self.logger = logger
        files = StaticFiles(chartLibrary: chartLibrary, takesDevices: takesDevices)
        sessions = Guarded(SessionBook())
        attempts = Guarded(LoginBudget())
        refusedLogins = Guarded(RefusedLogins())
        watched = Guarded(AudienceCache())
    }

    /// The pages, and behind them the API for every other address.
    ///
    /// - Parameter api: What answers there; requests that come with a session's cookie reach it with its token.
    public func responder<API: HTTPResponder<BasicRequestContext>>(before api: API) -> PageResponder<API> {
        PageResponder(pages: self, router: router().buildResponder(), api: api)
    }

    func router() -> Router<PageContext> {
        let router = Router(context: PageContext.self)
        addFiles(to: router)
        addSessions(to: router)
        addWatching(to: router)
        return router
    }
}
