import ControlAPI
import FootlightTesting
import GatewayModel
import Testing

@Suite("Streams of figures and of levels, as many as there may be")
struct StreamLimitTests {
    @Test(
        "200 are open; one more is told when to come back, and is let in when one has gone",
        arguments: ["/v1/viewership/events", "/v1/rooms/show/levels"]
    )
    func limit(path: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let token = try await server.tokens.mintOperator(expiresIn: 600)
            func open() async throws -> (client: SilentClient, head: String) {
                let client = try SilentClient(port: server.boundPort, path: path, token: token)
                return (client, try await client.readSome())
            }
            var clients: [SilentClient] = []
            for number in 0..<200 {
                let (client, head) = try await open()
                #expect(head.hasPrefix("HTTP/1.1 200") && head.contains("text/event-stream"), "\(number)")
                clients.append(client)
            }
            let refused = try await server.ask("GET", path)
            #expect(refused.refusal == "503/53006" && refused.headers["retry-after"] == "5")
            #expect(refused.error?.retryable == true && refused.error?.retryAfter == 5)
            // Those who have a stream keep it.
            #expect(try await open().head.hasPrefix("HTTP/1.1 503"))
            clients.removeFirst()
            let isFree = try await eventually {
                let (client, head) = try await open()
                guard head.hasPrefix("HTTP/1.1 200") else { return false }
                clients.append(client)
                return true
            }
            #expect(isFree && clients.count == 200)
            #expect(try await server.ask("GET", path).refusal == "503/53006")
        }
    }
}
