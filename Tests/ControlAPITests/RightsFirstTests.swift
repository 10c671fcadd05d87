import Foundation
import Hummingbird
import Stage
import Testing

@testable import ControlAPI

@Suite("Rights come before everything else that a request says")
struct RightsFirstTests {
    /// Answered to anybody.
    private static let open = ["/v1/cmcd", "/v1/openapi.yaml"]
    /// What there is not, and what is somebody else's, are one and the same to a stranger.
    private static let hidden = ["/v1/invitations/{"]
    /// Parts of addresses that have no token, or nothing behind them here.
    private static let skipped = ["/snapshot.", "/recordings"]
    private static let names = ["room": "show", "participant": "ann", "track": "mic"]
    private static let badQuery = [
        "page_size", "page_token", "mode", "status", "step", "from", "to", "group_by", "format", "reason", "identity",
        "participant", "picture", "width", "at",
    ].map { "\($0)=%3F" }.joined(separator: "&")

    @Test("A participant of another room is told 403, or that there is no such thing, whatever the body and the query")
    func stranger() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            _ = try await server.join("show", "ann")
            let claims = AccessClaims(
                identity: "eve",
                role: .participant,
                room: "other",
                modes: [.sendAndReceive],
                administers: ["streaming", "participants"],
                expiresAt: Date().timeIntervalSince1970 + 600
            )
            let stranger = ControlServer.Bearer.token(try await server.tokens.mint(claims))
            var asked = 0
            for route in server.routes().openRouter().routes where route.method != .options {
                let pattern = route.path.description
                let isSkipped = Self.skipped.contains { pattern.contains($0) }
                guard pattern.hasPrefix("/v1/"), !Self.open.contains(pattern), !isSkipped else { continue }
                let path = pattern.split(separator: "/").map { part in
                    part.hasPrefix("{") ? Self.names[part.filter { !"{}".contains($0) }] ?? "x" : String(part)
                }
                let takesBody = [.post, .put, .patch].contains(route.method)
                for (query, body) in [("", takesBody ? "{" : nil), ("?\(Self.badQuery)", takesBody ? "[]" : nil)] {
                    let target = "/" + path.joined(separator: "/") + query
                    let answer = try await server.ask(route.method.rawValue, target, body, as: stranger)
                    let isHidden = Self.hidden.contains { pattern.hasPrefix($0) }
                    #expect(answer.status == 403 || isHidden && answer.status == 404, "\(route.method) \(target)")
                    asked += 1
                }
            }
            #expect(asked > 120)
        }
    }
}
