import ControlAPI
import FootlightTesting
import GatewayModel
import Stage
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

    @Test(
        "A participant has four streams of levels, and a client as many of all kinds as it may; operators have others"
    )
    func shares() async throws {
        try await ControlServer.run(streamsPerClient: 8) { (server) async throws in
            try await server.makeRoom()
            let `operator` = try await server.tokens.mintOperator(expiresIn: 600)
            func token(_ identity: String) async throws -> String {
                try await server.tokens.mint(identity: identity, room: "show", mode: .receiveOnly, expiresIn: 600)
            }
            func open(_ path: String, _ token: String) async throws -> (client: SilentClient, head: String) {
                let client = try SilentClient(port: server.boundPort, path: path, token: token)
                return (client, String(try await client.readSome().prefix(12)))
            }
            let levels = "/v1/rooms/show/levels"
            let ann = try await token("ann")
            var clients: [SilentClient] = []
            for _ in 0..<4 {
                let (client, head) = try await open(levels, ann)
                #expect(head == "HTTP/1.1 200")
                clients.append(client)
            }
            #expect(try await open(levels, ann).head == "HTTP/1.1 429")
            // A second client: four more are its own, and with them it has all that one may have.
            let ben = try await token("ben")
            for _ in 0..<4 {
                let (client, head) = try await open(levels, ben)
                #expect(head == "HTTP/1.1 200")
                clients.append(client)
            }
            #expect(try await open("/v1/rooms/show/events", try await token("eve")).head == "HTTP/1.1 429")
            #expect(try await open(levels, `operator`).head == "HTTP/1.1 200")
            clients.removeAll()
            let isFree = try await eventually { try await open(levels, ann).head == "HTTP/1.1 200" }
            #expect(isFree)
        }
    }

    @Test("A PNG of the program is for those who show a token that may read the room; without a room there is neither")
    func pictures() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let path = "/v1/rooms/show/snapshot"
            #expect(try await server.ask("GET", path + ".png", as: .nobody).refusal == "401/20101")
            #expect(try await server.ask("GET", path + ".png").status == 404)
            #expect(try await server.ask("GET", path + ".jpg", as: .nobody).status == 404)
        }
    }
}
