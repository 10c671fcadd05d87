import FootlightModel
import Foundation
import HTTPTypes
import NIOCore
import Stage

/// A complete response to a playback request: status, header fields, and a body of shared buffers.
struct MediaResponse {
    var status: HTTPResponse.Status
    var contentType: String
    var cacheControl: String
    var body: [ByteBuffer]
    /// Whether a `Range` is honoured.
    ///
    /// Playlists ignore it: a player that requests a part of a live playlist would join two versions of it.
    var allowsRanges = false
    var location: String?
    /// Whether the body is gzip-compressed; nil if it has no compressed form.
    var isCompressed: Bool?
    /// The value of `Retry-After`, in seconds.
    var retryAfter: Int?
    /// The allowed methods, if the request used another one.
    var allow: String?
    /// The session of a media playlist; nil if it is not recorded.
    var viewer: PlaybackSession?

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

    /// The CORS fields of every response: any origin may play public media, and no credentials are involved.
    static let crossOrigin: HTTPFields = {
        var fields = HTTPFields()
        fields[.accessControlAllowOrigin] = "*"
        fields[.accessControlExposeHeaders] = "Content-Length, Content-Range, Date, X-Footlight-Session"
        return fields
    }()

    /// Refuses a waiting request because too many requests wait in total.
    static let noRoomToWait: MediaResponse = {
        var response = MediaResponse.refusal(.serviceUnavailable, "no room for another waiting request")
        response.retryAfter = 1
        return response
    }()

    /// Directs a request to the same address over TLS.
    static func moved(to location: String) -> MediaResponse {
        var response = MediaResponse.refusal(.permanentRedirect, "use HTTPS")
        response.location = location
        return response
    }

    /// Refuses a session id that was issued for another room, or not by this gateway.
    static let foreignSession = MediaResponse.refusal(.forbidden, "this session id is not for this room")

    /// Refuses methods that a media address does not support.
    static let wrongMethod: MediaResponse = {
        var response = MediaResponse.refusal(.methodNotAllowed, "GET, HEAD and OPTIONS are what this address takes")
        response.allow = "GET, HEAD, OPTIONS"
        return response
    }()

    /// Refuses a token that is expired, or not issued by this gateway.
    static let invalidToken = MediaResponse.refusal(.forbidden, "this token is not valid")

    /// The response to a CORS preflight request.
    static let preflight: HTTPResponse = {
        var response = HTTPResponse(status: .noContent, headerFields: crossOrigin)
        response.headerFields[.accessControlAllowMethods] = "GET, HEAD, OPTIONS"
        response.headerFields[.accessControlAllowHeaders] =
            "Range, CMCD-Request, CMCD-Session, CMCD-Object, CMCD-Status, X-Playback-Session-Id"
        response.headerFields[.accessControlMaxAge] = "86400"
        return response
    }()

    /// Returns the head and the body to send for a request with this method and `Range`.
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
            switch ByteRange.parse(range, length: length) {
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

    /// The encoded start of the head of a whole file: status and all fields but length and date.
    ///
    /// `resolved` has the length as the last field, so the bytes are those of a head that the channel encodes.
    private static let fileHeadStart: ByteBuffer = {
        let head = segment([]).resolved(method: .get, range: nil).head
        var bytes = ByteBuffer(string: "HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        for field in head.headerFields where field.name != .contentLength {
            bytes.writeString("\(field.name.rawName): \(field.value)\r\n")
        }
        return bytes
    }()

    /// Returns the encoded head of the response to a GET request for a whole file; nil for any other response.
    ///
    /// Most requests are for whole files, whose heads differ in length and date only.
    func encodedFileHead(
        method: HTTPRequest.Method,
        range: String?,
        dates: HTTPDateCache,
        isLast: Bool
    ) -> ByteBuffer? {
        // Only files allow ranges.
        guard allowsRanges, method == .get, range == nil else { return nil }
        var head = ByteBuffer()
        // Room for the fields below.
        head.reserveCapacity(Self.fileHeadStart.readableBytes + 128)
        head.writeImmutableBuffer(Self.fileHeadStart)
        head.writeStaticString("Content-Length: ")
        head.writeString(String(body.reduce(0) { $0 + $1.readableBytes }))
        head.writeStaticString("\r\nDate: ")
        head.writeString(dates.text)
        head.writeStaticString(isLast ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n")
        return head
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

extension MediaResponse {
    // MARK: Errors in the format of the API

    /// Refuses a new viewer because the gateway is at capacity.
    static let busy: MediaResponse = {
        var error = StageError.serverBusy(retryAfter: 5)
        error.cause = "The gateway has no room for another viewer"
        return refusal(error, .serviceUnavailable)
    }()

    /// Refuses a viewer because the room has its maximum of viewers.
    static let roomFull = refusal(.roomFull, .conflict)

    /// Refuses a player of a private room.
    static func denied(_ reason: AccessRefusal) -> MediaResponse {
        let error = reason.error
        return refusal(error, .init(code: error.status))
    }

    /// Refuses an operator's token in a URL.
    static let operatorTokenInURL = refusal(.operatorTokenInURL, .forbidden)

    /// Refuses a request that pretends to come from another gateway.
    static let forgedSignature = refusal(.nodeSignatureInvalid, .forbidden)

    /// Refuses a forwarded request for a room of yet another gateway.
    static let roomElsewhere = refusal(.roomElsewhere, .init(code: StageError.roomElsewhere.status))

    /// Refuses a waiting request because its session has too many.
    static let tooManyWaits: MediaResponse = {
        var error = StageError.tooManyRequests(retryAfter: 1)
        error.cause = "More requests of one viewer wait than a player has use for"
        return refusal(error, .tooManyRequests)
    }()

    /// Refuses a session because its address has too many that were not proven to watch.
    static let tooManySessions: MediaResponse = {
        var error = StageError.tooManyRequests(retryAfter: 5)
        error.cause = "Too many players of this address have asked for a program and not played it"
        return refusal(error, .tooManyRequests)
    }()

    /// Refuses a request because its address exceeds the rate limit, for media or for the API.
    ///
    /// - Parameter rate: The allowed requests per second; a refused request costs nothing, so the next one is allowed
    ///   after one interval.
    static func tooManyRequests(rate: Double) -> MediaResponse {
        refusal(.tooManyRequests(retryAfter: Int(min(max(1 / rate, 1), 3600).rounded(.up))), .tooManyRequests)
    }

    /// - Parameter status: The HTTP status of the error.
    private static func refusal(_ error: StageError, _ status: HTTPResponse.Status) -> MediaResponse {
        // Encoding numbers and strings does not fail; without a body the status would still be right.
        let data = (try? WireJSON.encode(ErrorAnswer(error: ErrorResource(error)))) ?? Data()
        return MediaResponse(
            status: status,
            contentType: "application/json; charset=utf-8",
            cacheControl: "no-store",
            body: [ByteBuffer(bytes: data)],
            retryAfter: error.retryAfter
        )
    }
}

/// A single byte range of a `Range` header (RFC 9110 section 14.2), resolved against a body's length.
struct ByteRange: Equatable {
    enum ParseResult: Equatable {
        /// No range, several ranges or an unknown form: the whole body is sent.
        case whole
        case partial(ByteRange)
        case unsatisfiable
    }

    let first: Int
    let last: Int

    var count: Int { last - first + 1 }

    static func parse(_ header: String?, length: Int) -> ParseResult {
        guard let header, header.hasPrefix("bytes=") else { return .whole }
        let parts = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !header.contains(",") else { return .whole }
        switch (number(parts[0]), number(parts[1])) {
        case (let first?, let last?):
            guard first <= last else { return .whole }
            guard first < length else { return .unsatisfiable }
            return .partial(ByteRange(first: first, last: min(last, length - 1)))
        case (let first?, nil):
            guard parts[1].isEmpty else { return .whole }
            guard first < length else { return .unsatisfiable }
            return .partial(ByteRange(first: first, last: length - 1))
        case (nil, let suffix?):
            guard parts[0].isEmpty else { return .whole }
            guard suffix > 0, length > 0 else { return .unsatisfiable }
            return .partial(ByteRange(first: max(0, length - suffix), last: length - 1))
        case (nil, nil):
            return .whole
        }
    }

    /// Parses digits only; `Int` accepts signs, which the grammar does not.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(text) : nil
    }
}
