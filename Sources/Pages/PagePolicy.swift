import HTTPTypes
import Hummingbird

/// What a browser may do with our pages (Content Security Policy Level 3): ask us alone, and run our files alone.
enum PagePolicy {
    private static let own = [
        "default-src 'self'", "img-src 'self' data: blob:", "media-src 'self' blob:", "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'", "require-trusted-types-for 'script'",
    ].joined(separator: "; ")

    /// Adds the policy to an answer.
    ///
    /// Only the watch page, and only where it is asked for as a part of another page, may stand in a frame elsewhere.
    static func add(to response: inout Response, for request: Request) {
        let frames = isEmbedded(request) ? "*" : "'none'"
        response.headers[.contentSecurityPolicy] = "\(own); frame-ancestors \(frames)"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "same-origin"
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        // For browsers that know no `frame-ancestors`.
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
