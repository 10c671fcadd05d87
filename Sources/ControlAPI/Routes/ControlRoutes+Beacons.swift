import HTTPTypes
import Hummingbird
import NIOCore
import Stage
import Viewership

extension ControlRoutes {
    /// What players report of themselves: CMCD version 2 in event mode (CTA-5004-B), a report on each line of the body.
    ///
    /// Players have no token. A report counts for the session that it names, whose id proves itself, or for a room that is
    /// on and that it names.
    func addBeacons(to group: RouterGroup<BasicRequestContext>) {
        group.post("cmcd") { request, _ -> Response in
            let body = try await request.bytes(upTo: Self.largestBeacon, else: .bodyTooLarge)
            let room = request.uri.queryParameters.get("room")
            let sid = request.uri.queryParameters.get("sid")
            let player = reporter(request.headers)
            for line in String(buffer: body).split(whereSeparator: \.isNewline).prefix(Self.beaconLines) {
                var report = PlayerReport(CMCDItems(String(line)))
                if report.sid == nil { report.sid = sid }
                _ = viewership.take(report, room: room, from: player)
            }
            // What it was good for is nobody's business; players must not try again.
            return Response(status: .noContent, headers: [.accessControlAllowOrigin: "*"])
        }

        // The type of a report is none that a page of another origin may send unasked (Fetch standard, "CORS protocol").
        group.on("cmcd", method: .options) { _, _ -> Response in
            Response(
                status: .noContent,
                headers: [
                    .accessControlAllowOrigin: "*",
                    .accessControlAllowMethods: "POST",
                    .accessControlAllowHeaders: "Content-Type, Authorization",
                    .accessControlMaxAge: "86400",
                ]
            )
        }
    }

    private static var largestBeacon: Int { 16 * 1024 }
    /// Reports that are read of one body.
    private static var beaconLines: Int { 32 }
}
