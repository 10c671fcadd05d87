public import Hummingbird
public import Media

/// The pages a browser shows: the operator's dashboard and the page to watch a room on.
///
/// They are files and a thin door: everything they show comes from the control API, which a browser reaches by a
/// session cookie in place of a token, and from the playlists. No file and no request of theirs leads to another origin.
public struct PageSite: Sendable {
    let verify: @Sendable (_ token: String) async -> PageUser?
    let audience: @Sendable (_ room: String) -> PageAudience?
    let clock: any MonotonicClock
    let files: StaticFiles
    let sessions: Guarded<SessionBook>
    let attempts: Guarded<LoginBudget>

    /// Takes what the pages ask.
    ///
    /// - Parameters:
    ///   - chartLibrary: The file of the chart library; where it is missing the dashboard shows its figures as tables.
    ///   - clock: For the age of sessions.
    ///   - verify: Who a token lets in; nil for a token that lets nobody look at every room.
    ///   - audience: What everybody may know of a room's audience; nil where there is no such room.
    public init(
        chartLibrary: String = StaticFiles.chartLibrary,
        clock: any MonotonicClock = SystemClock(),
        verify: @escaping @Sendable (_ token: String) async -> PageUser?,
        audience: @escaping @Sendable (_ room: String) -> PageAudience?
    ) {
        self.verify = verify
        self.audience = audience
        self.clock = clock
        files = StaticFiles(chartLibrary: chartLibrary)
        sessions = Guarded(SessionBook())
        attempts = Guarded(LoginBudget())
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
