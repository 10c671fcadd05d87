import HTTPTypes
public import Hummingbird

/// Answers the pages' addresses, and hands every other request on to the API.
public struct PageResponder<API: HTTPResponder<BasicRequestContext>>: HTTPResponder {
    /// The context in which requests come in.
    public typealias Context = PageContext

    let pages: PageSite
    let router: RouterResponder<PageContext>
    let api: API

    /// Answers one request.
    public func respond(to request: Request, context: PageContext) async throws -> Response {
        guard PageSite.owns(path: request.uri.path) else {
            return try await api.respond(to: pages.admitted(request), context: context.basic)
        }
        var response = try await router.respond(to: request, context: context)
        if response.status == .notFound {
            // The pages are for reading; what has another method is routed, and thus found.
            let isReading = request.method == .get || request.method == .head
            response = PageReply.text(isReading ? .notFound : .methodNotAllowed)
            if !isReading { response.headers[.allow] = PageSite.methods(of: request.uri.path) }
        }
        if request.method == .head { response = response.createHeadResponse() }
        PagePolicy.add(to: &response, for: request)
        return response
    }
}

extension PageSite {
    /// The methods that an address takes.
    static func methods(of path: String) -> String {
        path == "/dashboard/session" ? "GET, HEAD, POST, DELETE" : "GET, HEAD"
    }

    /// Whether an address belongs to the pages.
    static func owns(path: String) -> Bool {
        guard let first = path.split(separator: "/", maxSplits: 1).first else { return false }
        return ["dashboard", "watch", "site"].contains(first)
    }
}
