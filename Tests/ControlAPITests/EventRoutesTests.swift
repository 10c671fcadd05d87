import ControlAPI
import FootlightTesting
import FootlightModel
import Stage
import Testing

@Suite("Event stream routes")
struct EventRoutesTests {
    private static let path = "/v1/rooms/show/events"

    @Test("A stream sends the retry interval, a snapshot and the events, and ends with the room")
    func snapshotFirst() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            let client = try server.events(Self.path)
            var events = client.events.makeAsyncIterator()
            #expect(await events.next()?.retry == "2000")
            let snapshot = try #require(await events.next())
            #expect(snapshot.name == "room.snapshot" && snapshot.id == "3")
            let data = try #require(snapshot.data)
            #expect(data.type == "room.snapshot" && data.rev == 3)
            #expect(data.room?.uniqueName == "show" && data.room?.program.width == 1280)
            #expect(data.participants?.map(\.identity) == ["ann"])
            #expect(data.tiles?.count == 1 && data.layout?.tiles == data.tiles)

            _ = try await server.join("show", "ben")
            let joined = try #require(await events.next())
            #expect(joined.name == "participant.joined" && joined.id == "4")
            #expect(joined.data?.participant?.identity == "ben")
            let layout = try #require(await events.next())
            #expect(layout.name == "layout.changed" && layout.id == "5")
            #expect(layout.data?.tiles?.map(\.label) == ["ann", "ben"])

            try server.directory.end(room: "show")
            #expect(await events.next()?.name == "room.ended")
            #expect(await events.next() == nil, "the stream ends")
            client.close()
        }
    }

    @Test("A client that reconnects with Last-Event-ID, as header or query, receives the missed events")
    func replay() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for identity in ["ann", "ben"] { _ = try await server.join("show", identity, "RECV_ONLY") }
            for client in [
                try server.events(Self.path, headers: ["Last-Event-ID": "2"]),
                try server.events(Self.path + "?last_event_id=2"),
            ] {
                var events = client.events.makeAsyncIterator()
                _ = await events.next()
                let missed = try #require(await events.next())
                #expect(missed.name == "participant.joined" && missed.id == "3")
                #expect(missed.data?.participant?.identity == "ben")
                client.close()
            }
            let odd = try server.events(Self.path, headers: ["Last-Event-ID": "yesterday"])
            var events = odd.events.makeAsyncIterator()
            _ = await events.next()
            #expect(await events.next()?.name == "room.snapshot")
            odd.close()
        }
    }

    @Test("An idle stream carries heartbeats")
    func heartbeat() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let client = try server.events(Self.path)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            server.directory.broadcastHeartbeat()
            let broadcastHeartbeat = try #require(await events.next())
            #expect(
                broadcastHeartbeat.name == "heartbeat" && broadcastHeartbeat.id == "1"
                    && broadcastHeartbeat.data?.type == "heartbeat"
            )
            client.close()
        }
    }

    @Test("A client that disconnects from an idle room leaves no reader behind")
    func goneClient() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let client = try server.events(Self.path)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            #expect(server.directory.readerCount == 1)
            client.close()
            let isGone = try await eventually { server.directory.readerCount == 0 }
            #expect(isGone)
        }
    }

    @Test("T17 the older session of an identity receives 53205, and its stream ends")
    func duplicateIdentity() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let bearer = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "ann", room: "show", mode: .sendAndReceive, expiresIn: 60)
            )
            let joined = try await server.join("show", "ann", as: bearer).decode(JoinAnswer.self)
            let client = try server.events(Self.path + "?participant=\(joined.participant.sid)", as: bearer)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            _ = try await server.join("show", "ann", as: bearer)
            let left = try #require(await events.next())
            #expect(left.name == "participant.left" && left.data?.reason == "duplicate_identity")
            let last = try #require(await events.next())
            #expect(last.name == "session.disconnected" && last.data?.error?.code == 53205)
            #expect(await events.next() == nil)
            client.close()
        }
    }

    @Test("A client that does not read is disconnected with a final event, and the room continues")
    func slowReader() async throws {
        try await ControlServer.run(settings: StageSettings(waitingEvents: 50)) { (server) async throws in
            try await server.makeRoom()
            let socket = try NonReadingHTTPClient(
                port: server.boundPort,
                path: Self.path,
                token: try await server.tokens.issueOperator(expiresIn: 60)
            )
            let hasReader = try await eventually { server.directory.readerCount == 1 }
            #expect(hasReader)
            // More than the socket buffers hold; every change of the outputs is one event of about 64 KiB.
            let text = String(repeating: "x", count: 64 * 1024)
            var sent = 0
            while server.directory.readerCount == 1, sent < 2000 {
                server.directory.outputChanged(
                    room: "show",
                    OutputStatus(name: "a", url: text, maskedStreamKey: "****", state: .connected)
                )
                sent += 1
            }
            #expect(server.directory.readerCount == 0, "cut off after \(sent) events")
            #expect(try await server.ask("GET", "/v1/rooms/show").status == 200)
            let received = try socket.readToEnd()
            #expect(received.contains("event: session.disconnected"))
            #expect(received.contains("\"code\":53001"))
        }
    }

    @Test("A participant has four streams of a room; a fifth ends the oldest with a final event")
    func streamsPerIdentity() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let token = try await server.tokens.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
            var clients: [EventClient] = []
            for _ in 0..<4 { clients.append(try await opened(server, .token(token))) }
            #expect(server.directory.readerCount == 4)
            var oldest = clients[0].events.makeAsyncIterator()
            clients.append(try await opened(server, .token(token)))
            let last = try #require(await oldest.next())
            #expect(last.name == "session.disconnected" && last.data?.error?.code == 53006)
            #expect(await oldest.next() == nil)
            #expect(server.directory.readerCount == 4)
            for _ in 0..<5 { clients.append(try await opened(server, .operator)) }
            #expect(server.directory.readerCount == 9, "operators are not counted")
            for client in clients { client.close() }
        }
    }

    @Test("Participants use nine tenths of all streams; the rest is for mixers and operators")
    func reserve() async throws {
        try await ControlServer.run(settings: StageSettings(maximumReaders: 10)) { (server) async throws in
            try await server.makeRoom()
            var clients: [EventClient] = []
            var token = ""
            for number in 0..<10 {
                token = try await server.tokens.issue(
                    identity: "p\(number)",
                    room: "show",
                    mode: .receiveOnly,
                    expiresIn: 60
                )
                if number < 9 { clients.append(try await opened(server, .token(token))) }
            }
            for path in [Self.path, "/v1/events?identity=me"] {
                #expect(try await server.ask("GET", path, as: .token(token)).refusal == "503/53006")
            }
            clients.append(try await opened(server, .operator))
            clients[0].close()
            let isFree = try await eventually { server.directory.readerCount == 9 }
            #expect(isFree)
            for client in clients { client.close() }
        }
    }

    /// Opens a stream and awaits its snapshot.
    private func opened(_ server: ControlServer, _ bearer: ControlServer.Bearer) async throws -> EventClient {
        let client = try server.events(Self.path, as: bearer)
        var events = client.events.makeAsyncIterator()
        #expect(await events.next()?.retry == "2000")
        #expect(await events.next()?.name == "room.snapshot")
        return client
    }

    @Test("Streams of unknown rooms and of other bearers are refused with the usual errors")
    func refusals() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            #expect(try await server.ask("GET", "/v1/rooms/none/events").refusal == "404/53106")
            #expect(try await server.ask("GET", Self.path + "?participant=zoe").refusal == "404/53204")
            try server.directory.end(room: "show")
            #expect(try await server.ask("GET", Self.path).refusal == "404/53106")
        }
    }
}
