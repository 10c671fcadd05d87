import HTTPTypes
import NIOCore

/// A complete answer of the media side: status, header fields, and a body of shared buffers.
struct MediaResponse {
    var status: HTTPResponse.Status
    var contentType: String
    var cacheControl: String
    var body: [ByteBuffer]
    /// Whether a `Range` is honoured.
    ///
    /// Playlists never: a player that is given a part of a live playlist stitches two versions of it together.
    var allowsRanges = false
    var location: String?
    /// Whether the body is a gzip file; nil where no other form of it exists.
    var isCompressed: Bool?
    /// Seconds after which to ask again.
    var retryAfter: Int?
    /// The methods that the address takes, where another was used.
    var allow: String?
    /// Whose playlist this is, if it is one that counts.
    var viewer: ViewerSession?

    /// - Parameter isCompressed: Whether `body` is a gzip file.
    static func playlist(_ body: ByteBuffer, cacheControl: String, isCompressed: Bool) -> MediaResponse {
        MediaResponse(
            status: .ok,
            contentType: "application/vnd.apple.mpegurl",
            cacheControl: cacheControl,
            body: [body],
            isCompressed: isCompressed
        )
    }

    static func segment(_ body: [ByteBuffer]) -> MediaResponse {
        MediaResponse(
            status: .ok,
            contentType: "video/mp4",
            cacheControl: "public, max-age=3600, immutable",
            body: body,
            allowsRanges: true
        )
    }

    static func refusal(_ status: HTTPResponse.Status, _ message: String) -> MediaResponse {
        MediaResponse(
            status: status,
            contentType: "text/plain; charset=utf-8",
            cacheControl: "no-store",
            body: [ByteBuffer(string: message + "\n")]
        )
    }

    /// Any page may play what is public here; no credentials are ever involved.
    static let crossOrigin: HTTPFields = {
        var fields = HTTPFields()
        fields[.accessControlAllowOrigin] = "*"
        fields[.accessControlExposeHeaders] = "Content-Length, Content-Range, Date, X-Footlight-Session"
        return fields
    }()

    /// More requests wait than there is memory for.
    static let noRoomToWait: MediaResponse = {
        var response = MediaResponse.refusal(.serviceUnavailable, "no room for another waiting request")
        response.retryAfter = 1
        return response
    }()

    /// The session id in the address was made for another room, or by somebody else.
    static let foreignSession = MediaResponse.refusal(.forbidden, "this session id is not for this room")

    /// Addresses of media are read, and nothing else.
    static let wrongMethod: MediaResponse = {
        var response = MediaResponse.refusal(.methodNotAllowed, "GET, HEAD and OPTIONS are what this address takes")
        response.allow = "GET, HEAD, OPTIONS"
        return response
    }()

    /// The token in the address is out of its time, or none of ours.
    static let invalidToken = MediaResponse.refusal(.forbidden, "this token is not valid")

    /// The answer to a page that asks, before it plays, whether it may.
    static let preflight: HTTPResponse = {
        var response = HTTPResponse(status: .noContent, headerFields: crossOrigin)
        response.headerFields[.accessControlAllowMethods] = "GET, HEAD, OPTIONS"
        response.headerFields[.accessControlAllowHeaders] =
            "Range, CMCD-Request, CMCD-Session, CMCD-Object, CMCD-Status, X-Playback-Session-Id"
        response.headerFields[.accessControlMaxAge] = "86400"
        return response
    }()

    /// The head and the part of the body to send for a request with that method and `Range`.
    func resolved(method: HTTPRequest.Method, range: String?) -> (head: HTTPResponse, body: [ByteBuffer]) {
        var response = HTTPResponse(status: status, headerFields: Self.crossOrigin)
        response.headerFields[.contentType] = contentType
        response.headerFields[.cacheControl] = cacheControl
        if let location { response.headerFields[.location] = location }
        if let retryAfter { response.headerFields[.retryAfter] = String(retryAfter) }
        if let allow { response.headerFields[.allow] = allow }
        if let isCompressed {
            response.headerFields[.vary] = "Accept-Encoding"
            if isCompressed { response.headerFields[.contentEncoding] = "gzip" }
        }
        let length = body.reduce(0) { $0 + $1.readableBytes }
        var body = body
        var sent = length
        if allowsRanges {
            response.headerFields[.acceptRanges] = "bytes"
            switch ByteRange.read(range, length: length) {
            case .whole:
                break
            case .partial(let range):
                response.status = .partialContent
                response.headerFields[.contentRange] = "bytes \(range.first)-\(range.last)/\(length)"
                body = Self.cut(body, to: range)
                sent = range.count
            case .unsatisfiable:
                response.status = .rangeNotSatisfiable
                response.headerFields[.contentRange] = "bytes */\(length)"
                body = []
                sent = 0
            }
        }
        response.headerFields[.contentLength] = String(sent)
        return (response, method == .head ? [] : body)
    }

    private static func cut(_ buffers: [ByteBuffer], to range: ByteRange) -> [ByteBuffer] {
        var position = 0
        return buffers.compactMap { buffer in
            defer { position += buffer.readableBytes }
            let first = max(range.first - position, 0)
            let end = min(range.last + 1 - position, buffer.readableBytes)
            guard first < end else { return nil }
            return buffer.getSlice(at: buffer.readerIndex + first, length: end - first)
        }
    }
}
