public import FootlightModel
import HTTPTypes
import Hummingbird
public import NIOCore
public import Stage
import Viewership

/// The route for player reports: CMCD version 2 in event mode (CTA-5004-B), one report per line of the body.
struct PlayerReportRoutes: FeatureRoutes {
    let viewership: any ViewershipReporting
    /// Identifies the sender of a report from the header fields.
    let reporter: @Sendable (HTTPFields) -> PlayerRequest

    /// Adds the route for player reports: CMCD version 2 in event mode (CTA-5004-B), one report per line of the body.
    ///
    /// Players have no token. A report counts for the session that it names, whose id is signed, or for a room that it
    /// names and that is on air.
    func add(to api: APIRoutes) {
        api.group.post("cmcd") { request, _ -> Response in
            let body = try await request.bytes(upTo: Self.maximumReportBytes, else: .bodyTooLarge)
            let room = request.uri.queryParameters.get("room")
            let sid = request.uri.queryParameters.get("sid")
            let player = reporter(request.headers)
            for line in String(buffer: body).split(whereSeparator: \.isNewline).prefix(Self.maximumReportLines) {
                var report = PlayerReport(CMCDItems(String(line)))
                if report.sid == nil { report.sid = sid }
                _ = viewership.receive(report, room: room, from: player)
            }
            // The result is not revealed, and players must not retry.
            return Response(status: .noContent, headers: [.accessControlAllowOrigin: "*"])
        }

        // A page of another origin may send the report's content type only after a preflight (Fetch standard, "CORS
        // protocol").
        api.group.on("cmcd", method: .options) { _, _ -> Response in
            Response(
                status: .noContent,
                headers: [
                    .allow: "POST, OPTIONS",
                    .accessControlAllowOrigin: "*",
                    .accessControlAllowMethods: "POST",
                    .accessControlAllowHeaders: "Content-Type, Authorization",
                    .accessControlMaxAge: "86400",
                ]
            )
        }
    }

    private static var maximumReportBytes: Int { 16 * 1024 }
    /// Maximum number of reports read from one body.
    private static var maximumReportLines: Int { 32 }
}

/// The route for access logs of CDNs and other servers, in JSON Lines.
struct CDNLogRoutes: FeatureRoutes {
    let rooms: RoomAccess
    /// Nil if the gateway accepts no logs.
    let logs: (any CDNLogReceiving)?

    /// Adds the route for access logs of CDNs and other servers, in JSON Lines.
    ///
    /// A log covers all viewers of the server, so the route requires the token of a relay or an operator.
    func add(to api: APIRoutes) {
        guard let logs else { return }
        api.postFromMachine("cdn-logs") { call in
            try call.claims.requireLogUpload()
            var room: String?
            if let bound = call.claims.room {
                guard let found = try? rooms.directory.summary(of: bound) else { throw StageError.tokenGrantsInvalid }
                room = found.name
            }
            // The header is optional: gzip is detected from the first bytes.
            let coding = call.request.headers[.contentEncoding]?.lowercased() ?? "identity"
            guard ["identity", "gzip", "x-gzip"].contains(coding) else {
                throw StageError.malformed("Content-Encoding must be gzip, or left out")
            }
            let limit = logs.bodyLimit
            let receipt = try await logs.read(of: call.claims.identity, room: room) { () async throws(StageError) in
                try await call.request.bytes(upTo: limit, else: .bodyTooLarge(limit: limit))
            }
            return try APIResponse.json(receipt)
        }
    }
}

/// Counts viewers behind other servers from the access logs that those upload.
public protocol CDNLogReceiving: Sendable {
    /// Maximum size in bytes of an uploaded log.
    var bodyLimit: Int { get }
    /// Receives a log in JSON Lines, plain or as a gzip file.
    ///
    /// - Parameters:
    ///   - name: The sender of the log.
    ///   - room: The unique name of the only room whose requests are counted; nil for all rooms.
    ///   - body: Returns the log's bytes; called once the upload is admitted.
    /// - Throws: 53004 for an unreadable log, 53006 while too many logs are being read, 429 for a second log of the
    ///   same sender, and the errors of `body`.
    func read(
        of name: String,
        room: String?,
        body: @Sendable () async throws(StageError) -> ByteBuffer
    ) async throws(StageError) -> LogReceiptResource
}
