import HTTPTypes
import Hummingbird
import Logging
import Media
import NIOCore
import NIOEmbedded

@testable import Pages

/// The pages in front of an API that answers with the authorization it received.
struct PageFixture {
    struct Answer {
        let status: Int
        let headers: HTTPFields
        let text: String

        /// The cookie for further requests; nil if none was set.
        var cookie: String? {
            headers[.setCookie].flatMap { $0.split(separator: ";").first.map(String.init) }
        }
    }

    private struct EchoingAPI: HTTPResponder {
        func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
            let said = request.headers[.authorization] ?? "nothing"
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: said)))
        }
    }

    static let host = "gateway.example:8080"

    let pages: PageSite
    private let answerer: @Sendable (Request, PageContext) async throws -> Response

    /// - Parameters:
    ///   - usesDeviceIDs: Whether persistent device ids are used.
    ///   - audience: Returns the public audience of a room.
    init(
        libraries: [String: String] = [:],
        usesDeviceIDs: Bool = false,
        clock: any MonotonicClock = SystemClock(),
        logger: Logger = Logger(label: "pages") { _ in SwiftLogNoOpLogHandler() },
        account: @escaping @Sendable (HTTPFields, String?) -> String? = { $1 },
        audience: @escaping @Sendable (String) -> PageAudience? = { room in
            room == "show" ? PageAudience(isOnAir: true, viewers: 57) : nil
        }
    ) {
        pages = PageSite(
            libraries: libraries,
            usesDeviceIDs: usesDeviceIDs,
            warnings: [PageWarning(code: "without_tls", text: "a warning")],
            clock: clock,
            logger: logger,
            account: account
        ) { token in
            switch token {
            case "operator-token": PageUser(identity: "ada", mayCommand: true)
            case "monitor-token": PageUser(identity: "eve", mayCommand: false)
            default: nil
            }
        } audience: { room in
            audience(room)
        }
        let responder = pages.responder(before: EchoingAPI())
        answerer = { try await responder.respond(to: $0, context: $1) }
    }

    /// Sends a request as a page of the same origin would, unless the headers differ.
    func ask(
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: [HTTPField.Name: String] = [:],
        cookie: String? = nil,
        body: String = ""
    ) async throws -> Answer {
        let channel = EmbeddedChannel()
        let context = PageContext(
            source: ApplicationRequestContextSource(
                channel: channel,
                logger: Logger(label: "pages") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        let response = try await answerer(Self.request(method, path, headers, cookie, body), context)
        let sink = Sink()
        try await response.body.write(sink)
        return Answer(status: response.status.code, headers: response.headers, text: sink.text)
    }

    /// Returns the request that the API receives from a page.
    func admitted(_ path: String, cookie: String? = nil) -> Request {
        pages.admitted(Self.request(.get, path, [:], cookie, ""))
    }

    private static func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: [HTTPField.Name: String],
        _ cookie: String?,
        _ body: String
    ) -> Request {
        var head = HTTPRequest(method: method, scheme: "http", authority: host, path: path)
        for (name, value) in headers { head.headerFields[name] = value }
        if let cookie { head.headerFields[.cookie] = cookie }
        return Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
    }

    /// Logs in; the answer sets the cookie.
    func logIn(_ token: String, headers: [HTTPField.Name: String] = PageFixture.ours) async throws -> Answer {
        try await ask(.post, "/dashboard/session", headers: headers, body: #"{"token":"\#(token)"}"#)
    }

    /// The header fields sent by the pages' scripts.
    static let ours: [HTTPField.Name: String] = [
        page: "1", .origin: "http://\(host)", secFetchSite: "same-origin",
    ]
    static let page = HTTPField.Name("X-Footlight-Page") ?? .cookie
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .cookie
}

/// Collects a body.
private final class Sink: ResponseBodyWriter {
    private var bytes = ByteBuffer()

    var text: String { String(buffer: bytes) }

    func write(_ buffer: ByteBuffer) async throws {
        bytes.writeImmutableBuffer(buffer)
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
