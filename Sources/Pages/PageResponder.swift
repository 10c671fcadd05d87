import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore

/// Answers requests for the pages, and forwards all others to the API.
public struct PageResponder<API: HTTPResponder<BasicRequestContext>>: HTTPResponder {
    /// The context of incoming requests.
    public typealias Context = PageContext

    let pages: PageSite
    let router: RouterResponder<PageContext>
    let api: API

    /// Answers one request.
    public func respond(to request: Request, context: PageContext) async throws -> Response {
        if request.uri.path == "/", request.method == .get || request.method == .head,
            request.headers[.accept]?.contains("text/html") ?? false
        {
            return Response(status: .seeOther, headers: [.location: "/dashboard", .contentLength: "0"])
        }
        guard PageSite.owns(path: request.uri.path) else {
            return try await api.respond(to: pages.admitted(request), context: context.basic)
        }
        var response = try await router.respond(to: request, context: context)
        if response.status == .notFound {
            // Pages are read-only; an address that exists for another method is routed above.
            let isReading = request.method == .get || request.method == .head
            response = PageResponse.text(isReading ? .notFound : .methodNotAllowed)
            if !isReading { response.headers[.allow] = PageSite.methods(of: request.uri.path) }
        }
        if request.method == .head { response = response.createHeadResponse() }
        ContentSecurityPolicy.add(to: &response, for: request)
        return response
    }
}

extension PageSite {
    /// Returns the allowed methods of an address, for `Allow`.
    static func methods(of path: String) -> String {
        if path == "/dashboard/session" { return "GET, HEAD, POST, DELETE" }
        return path.hasPrefix("/dashboard/sessions/") ? "DELETE" : "GET, HEAD"
    }

    /// Whether an address belongs to the pages.
    static func owns(path: String) -> Bool {
        guard let first = path.split(separator: "/", maxSplits: 1).first else { return false }
        return ["dashboard", "watch", "site"].contains(first)
    }
}

/// Creates the responses of the pages that are no files.
enum PageResponse {
    /// Returns a response with a JSON body that is not cached.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let data = try encoder.encode(value)
        return Response(
            status: status,
            headers: [
                .contentType: "application/json; charset=utf-8",
                .contentLength: String(data.count),
                .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        )
    }

    /// Returns a plain-text response with the status and its reason phrase.
    static func text(_ status: HTTPResponse.Status) -> Response {
        let text = "\(status.code) \(status.reasonPhrase)\n"
        return Response(
            status: status,
            headers: [
                .contentType: "text/plain; charset=utf-8",
                .contentLength: String(text.utf8.count),
                .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

/// The security header fields of the pages (Content Security Policy Level 3): same-origin requests and scripts only.
enum ContentSecurityPolicy {
    private static let own = [
        "default-src 'self'", "img-src 'self' data: blob:", "media-src 'self' blob:", "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'", "require-trusted-types-for 'script'",
    ].joined(separator: "; ")

    /// Adds the header fields to a response.
    ///
    /// Only the watch page, and only if requested as embedded, may be framed by another origin.
    static func add(to response: inout Response, for request: Request) {
        let frames = isEmbedded(request) ? "*" : "'none'"
        response.headers[.contentSecurityPolicy] = "\(own); frame-ancestors \(frames)"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "same-origin"
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        // For browsers without `frame-ancestors`.
        if frames != "*" { response.headers[.xFrameOptions] = "DENY" }
    }

    private static func isEmbedded(_ request: Request) -> Bool {
        request.uri.path.hasPrefix("/watch/") && request.uri.queryParameters.get("embed") == "1"
    }
}

extension HTTPField.Name {
    static let referrerPolicy = Self("Referrer-Policy") ?? .cacheControl
    static let xFrameOptions = Self("X-Frame-Options") ?? .cacheControl
    static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy") ?? .cacheControl
}
