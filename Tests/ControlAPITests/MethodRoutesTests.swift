import Foundation
import HTTPTypes
import Hummingbird
import TestSupport
import Testing

@testable import ControlAPI

@Suite("HEAD and OPTIONS", .timeLimit(.minutes(1)))
struct MethodRoutesTests {
    private static let names = ["room": "show", "participant": "ann", "track": "mic"]
    /// GET does not end here.
    private static let streams = [
        "/v1/rooms/{room}/events", "/v1/events", "/v1/rooms/{room}/levels", "/v1/viewership/events",
    ]

    private func path(_ pattern: String) -> String {
        pattern.split(separator: "/").map { part in
            "/" + (part.hasPrefix("{") ? Self.names[part.filter { !"{}".contains($0) }] ?? "x" : String(part))
        }.joined()
    }

    @Test("HEAD is answered like GET wherever GET is, without a body, and opens no stream")
    func head() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            var (answered, streams) = (0, 0)
            for route in server.routes().openRouter().routes where route.method == .get {
                let pattern = route.path.description
                let target = path(pattern) + (pattern == "/v1/events" ? "?identity=ann" : "")
                let head = try await server.ask("HEAD", target)
                #expect(head.data.isEmpty, "\(pattern)")
                if Self.streams.contains(pattern) {
                    #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream", "\(pattern)")
                    streams += 1
                } else {
                    let get = try await server.ask("GET", target)
                    #expect(head.status == get.status, "\(pattern)")
                    #expect(head.headers["content-type"] == get.headers["content-type"], "\(pattern)")
                }
                answered += 1
            }
            #expect(answered > 50 && streams == Self.streams.count)
            #expect(try await server.ask("HEAD", "/v1/rooms", as: .unauthenticated).status == 401)
            #expect(try await server.ask("HEAD", "/v1/rooms").headers["content-length"] != "0")
        }
    }

    @Test("OPTIONS lists the methods of every address, without a token")
    func options() async throws {
        try await ControlServer.run { (server) async throws in
            let routes = Dictionary(grouping: server.routes().openRouter().routes) { $0.path.description }
            for (pattern, same) in routes {
                let answer = try await server.ask("OPTIONS", path(pattern), as: .unauthenticated)
                let own = Set(same.map(\.method.rawValue))
                let listed = answer.headers["allow"]?.components(separatedBy: ", ") ?? []
                #expect(answer.status == 204 && answer.data.isEmpty, "\(pattern)")
                #expect(Set(listed) == own.union(["OPTIONS"]).union(own.contains("GET") ? ["HEAD"] : []), "\(pattern)")
            }
            #expect(routes.count > 60)
        }
    }
}
