import FootlightTesting
import Foundation
import FootlightModel
import Logging
import Stage
import Synchronization
import TestSupport
import Testing

@testable import ControlAPI

@Suite("T15 Every error code of the server has a condition")
struct ErrorRoutesTests {
    @Test("An error response has nine fields, a page for its code, and Retry-After where waiting helps")
    func shape() async throws {
        try await ControlServer.run { (server) async throws in
            let answer = try await server.ask("GET", "/v1/rooms/none")
            let object = try JSONSerialization.jsonObject(with: answer.data) as? [String: [String: Any]]
            let error = try #require(object?["error"])
            #expect(
                Set(error.keys) == [
                    "code", "name", "message", "cause", "solution", "status", "retryable", "retry_after", "more_info",
                ]
            )
            #expect(error["retry_after"] is NSNull)
            let address = try #require(URL(string: error["more_info"] as? String ?? ""))
            #expect(address.host() == "127.0.0.1" && address.port != nil && address.path == "/docs/errors/53106")
            let explained = try await server.ask("GET", address.path, as: .unauthenticated)
            #expect(explained.status == 200)
            #expect(
                explained.text.contains("53106 RoomNotFoundError (HTTP 404)") && explained.text.contains("Solution:")
            )
        }
    }

    @Test("An error is the same after a way through its resource and back")
    func roundTrip() {
        for error in StageError.documented {
            #expect(StageError(ErrorResource(error)) == error, "\(error.code)")
        }
        var hasty = ErrorResource(.roomNotFound)
        hasty.retryAfter = -1
        #expect(StageError(hasty).retryAfter == 0)
        hasty.retryAfter = .max
        #expect(StageError(hasty).retryAfter == 3600)
    }

    @Test("The page of an error has the address by which the client came, or the public one")
    func page() {
        var addresses = PlaybackAddresses(host: "0.0.0.0", httpPort: 8080, rtmpPort: 1935)
        let path = "/docs/errors/53106"
        #expect(addresses.page(of: .roomNotFound) == path, "without a client")
        #expect(
            addresses.reached(by: "live.example", isSecure: false).page(of: .roomNotFound) == "http://live.example:8080"
                + path
        )
        let proxied = addresses.reached(by: "live.example:8443", isSecure: false, isSecureProxy: true)
        #expect(proxied.page(of: .roomNotFound) == "https://live.example:8443" + path)
        addresses.publicURL = "https://tv.example"
        #expect(addresses.page(of: .roomNotFound) == "https://tv.example" + path)
        #expect(
            addresses.reached(by: "10.0.0.1", isSecure: false).page(of: .roomNotFound) == "https://tv.example" + path
        )
    }

    @Test("Only transient errors are retryable: connections, media, pending snapshots, and server errors (5xx)")
    func retryable() {
        let passing: Set<Int> = [53000, 53001, 53006, 53207, 53405, 53430, 53431, 3065, 429]
        for error in StageError.documented {
            // A host in quarantine has the code of the media that caused it.
            let passes = passing.contains(error.code) || error == .hostQuarantined(seconds: 60)
            #expect(error.isRetryable == (passes || error.status >= 500), "\(error.code)")
            #expect(error.isRetryable || error.retryAfter == nil, "\(error.code)")
            #expect(!error.name.isEmpty && !error.cause.isEmpty && !error.solution.isEmpty)
        }
        let named = Set(StageError.documented.map(\.code))
        let wanted = [
            20101, 20103, 20104, 20106, 20107, 53000, 53001, 53002, 53004, 53006, 53100, 53101, 53102, 53103, 53105,
            53106,
            53107, 53113, 53118, 53200, 53201, 53202, 53203, 53204, 53205, 53206, 53207, 53301, 53303, 53304, 53305,
            53404, 53405,
            3035, 3054, 3055, 3056, 3057, 3065, 3066, 3067, 3073, 4010, 4011, 4012, 4013, 4014, 4015, 4016, 4017, 4018,
            4030, 4065, 5001, 5002, 5003, 429, 499, 1002,
        ]
        #expect(Set(wanted).subtracting(named).isEmpty)
    }

    @Test("Every code in the sources has a page, and the index links all pages")
    func pages() async throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        var codes: Set<Int> = []
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains("extension StageError {") else { continue }
            codes.formUnion(text.matches(of: /code: ([0-9]+),/).compactMap { Int($0.1) })
        }
        let all = codes.union(StageError.documented.map(\.code))
        #expect(codes.count > 50)
        try await ControlServer.run { (server) async throws in
            let index = try await server.ask("GET", "/docs/errors", as: .unauthenticated)
            #expect(index.status == 200)
            let lines = index.text.split(separator: "\n")
            for code in all {
                let page = try await server.ask("GET", "/docs/errors/\(code)", as: .unauthenticated)
                #expect(page.status == 200 && page.text.hasPrefix("\(code) "), "\(code)")
                #expect(lines.contains { $0.hasPrefix("\(code) ") && $0.hasSuffix(" /docs/errors/\(code)") }, "\(code)")
            }
            #expect(lines.count == StageError.documented.count)
        }
    }

    @Test("53006 without admission new work is refused with Retry-After, and running work continues")
    func admission() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            server.refusal.withLock { $0 = .serverBusy(retryAfter: 7) }
            let output = #"{"outputs":[{"url":"rtmp://a.example/live","stream_key":"k"}]}"#
            for (path, body) in [
                ("/v1/rooms", #"{"unique_name":"b"}"#),
                ("/v1/rooms/show/participants", #"{"identity":"ben","mode":"RECV_ONLY"}"#),
                ("/v1/rooms/show/go_live", ""), ("/v1/rooms/show/livestream/start", output),
                ("/v1/rooms/show/hls/start", ""),
            ] {
                let answer = try await server.ask("POST", path, body)
                #expect(answer.refusal == "503/53006", "\(path)")
                #expect(answer.headers["retry-after"] == "7" && answer.error?.retryAfter == 7)
                #expect(answer.error?.retryable == true)
            }
            server.refusal.withLock { $0 = .serverBusy(retryAfter: nil) }
            let terminal = try await server.ask("POST", "/v1/rooms", #"{"unique_name":"b"}"#)
            #expect(terminal.refusal == "503/53006" && terminal.headers["retry-after"] == nil)
            let mode = #"{"mode":"RECV_ONLY"}"#
            #expect(try await server.ask("POST", "/v1/rooms/show/participants/ann/mode", mode).status == 200)
            #expect(try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#).status == 200)
        }
    }

    @Test("53105, 53106, 53113, 53118 and 4010 the room is full, unknown, taken, ended, or has its maximum of hosts")
    func rooms() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom("show", #","max_participants":2,"max_hosts":1"#)
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"show"}"#).refusal == "409/53113")
            #expect(try await server.join("none", "ann").refusal == "404/53106")
            #expect(try await server.join("show", "ann").status == 201)
            #expect(try await server.join("show", "ben").refusal == "409/4010")
            #expect(try await server.join("show", "eve", "RECV_ONLY").status == 201)
            let full = try await server.join("show", "fay", "RECV_ONLY")
            #expect(full.refusal == "409/53105")
            #expect(full.error?.message == "Room contains too many Participants" && full.error?.retryable == false)
            #expect(try await server.join("show", "eve", "RECV_ONLY").status == 201, "who is there already has a place")
            let end = #"{"status":"completed"}"#
            #expect(try await server.ask("POST", "/v1/rooms/show", end).status == 200)
            #expect(try await server.ask("POST", "/v1/rooms/show", end).refusal == "410/53118")
            #expect(try await server.join("show", "ann").refusal == "404/53106")
        }
    }

    @Test("53106 has a solution for each phase: create the room to connect, or report its end to a returning client")
    func phases() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let joined = try await server.join("show", "eve", "RECV_ONLY").decode(JoinAnswer.self)
            #expect(try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#).status == 200)
            let solution = { (method: String, path: String, body: String) async throws -> String? in
                let answer = try await server.ask(method, path, body)
                #expect(answer.refusal == "404/53106", "\(path)")
                return answer.error?.solution
            }
            let session = #"{"session_id":"\#(joined.sessionID)"}"#
            let query = "session_id=\(joined.sessionID)&participant=eve"
            for room in ["show", joined.room.sid, "forgotten"] {
                let path = "/v1/rooms/\(room)"
                let back = [
                    try await solution("POST", "\(path)/participants/eve/heartbeat", session),
                    try await solution("POST", "\(path)/participants/eve/reconnect", session),
                    try await solution("GET", "\(path)/events?\(query)", ""),
                    try await solution("GET", "\(path)/events?last_event_id=2", ""),
                ]
                #expect(back == Array(repeating: "Tell the user that the room has ended", count: 4), "\(room)")
                #expect(try await solution("GET", "\(path)/events", "") == "Create the room with the REST API first")
            }
            let join = try await server.join("show", "ann")
            #expect(join.error?.solution == "Create the room with the REST API first")
        }
    }

    @Test("53405 a host that announces media and sends none receives the error on its stream and is removed")
    func mediaNeverCame() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let ann = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "ann", room: "show", mode: .sendAndReceive, expiresIn: 600)
            )
            let joined = try await server.join("show", "ann", as: ann).decode(JoinAnswer.self)
            let client = try server.events(
                "/v1/rooms/show/events?participant=ann&session_id=\(joined.sessionID)",
                as: ann
            )
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            #expect(try await server.ask("PUT", "/v1/rooms/show/participants/ann/tracks/mic", as: ann).status == 200)
            let beat = #"{"session_id":"\#(joined.sessionID)"}"#
            for _ in 0..<4 {
                clock.advance(by: .seconds(4))
                _ = try await server.ask("POST", "/v1/rooms/show/participants/ann/heartbeat", beat, as: ann)
                server.directory.sweep()
            }
            var last: EventClient.Event?
            while let event = await events.next() { last = event }
            #expect(last?.name == "session.disconnected" && last?.data?.error?.code == 53405)
            #expect(last?.data?.error?.retryable == true)
            #expect(try server.directory.room("show").participants.isEmpty)
        }
    }

    @Test("1002 and 53118 removed participants and those of an ended room receive the error on their streams")
    func lastWords() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            var iterators: [AsyncStream<EventClient.Event>.AsyncIterator] = []
            var clients: [EventClient] = []
            for identity in ["ann", "ben"] {
                let bearer = ControlServer.Bearer.token(
                    try await server.tokens.issue(
                        identity: identity,
                        room: "show",
                        mode: .sendAndReceive,
                        expiresIn: 600
                    )
                )
                let joined = try await server.join("show", identity, as: bearer).decode(JoinAnswer.self)
                let client = try server.events(
                    "/v1/rooms/show/events?participant=\(identity)&session_id=\(joined.sessionID)",
                    as: bearer
                )
                var events = client.events.makeAsyncIterator()
                _ = await events.next()
                _ = await events.next()
                clients.append(client)
                iterators.append(events)
            }
            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/ann?reason=removed").status == 204)
            #expect(try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#).status == 200)
            for (index, code) in [(0, 1002), (1, 53118)] {
                var last: EventClient.Event?
                while let event = await iterators[index].next() { last = event }
                #expect(last?.name == "session.disconnected" && last?.data?.error?.code == code)
            }
            for client in clients { client.close() }
        }
    }

    @Test("53103 a room that cannot be persisted is not created; a running show continues without persistence")
    func keeping() async throws {
        struct DiskFull: Error {}
        try await ControlServer.run { (server) async throws in
            let room = try await server.makeRoom()
            #expect(server.persisted.withLock { $0 } == [room.sid], "kept before it is answered")
            _ = try await server.join("show", "ann")
            let mode = "/v1/rooms/show/participants/ann/mode"
            _ = try await server.ask("POST", mode, #"{"mode":"RECV_ONLY"}"#)
            _ = try await server.ask("POST", "/v1/rooms/show/go_live")
            #expect(server.persisted.withLock { $0.count } == 4)

            server.persistFault.withLock { $0 = DiskFull() }
            let failed = try await server.ask("POST", "/v1/rooms", #"{"unique_name":"b"}"#)
            #expect(failed.refusal == "500/53103" && failed.error?.retryable == true)
            #expect(try await server.ask("GET", "/v1/rooms?status=in-progress").decode(RoomList.self).rooms.count == 1)
            #expect(try await server.join("show", "ben").status == 201)
            #expect(server.log.lines.contains { $0.message == "room not kept" && $0.level == .error })
            #expect(try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#).status == 200)
            server.persistFault.withLock { $0 = nil }
            #expect(
                try await server.ask("POST", "/v1/rooms", #"{"unique_name":"b"}"#).status == 201,
                "the name is free"
            )
        }
    }

    @Test("53006 a host without CPU capacity is refused with Retry-After; the audience is admitted")
    func noProcessor() async throws {
        let settings = StageSettings(processor: ProcessorBudget(cores: 1, ceiling: 0.01))
        try await ControlServer.run(settings: settings) { (server) async throws in
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"show"}"#).status == 201)
            let refused = try await server.join("show", "ann")
            #expect(refused.refusal == "503/53006")
            #expect(refused.headers["retry-after"] == "10")
            #expect(try await server.join("show", "bob", "RECV_ONLY").status == 201)
        }
    }

    @Test("With ad-hoc rooms enabled, the first to join creates the room")
    func adHoc() async throws {
        try await ControlServer.run(settings: StageSettings(createsRoomsOnJoin: true)) { (server) async throws in
            let ann = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "ann", room: "fresh", mode: .sendAndReceive, expiresIn: 60)
            )
            #expect(try await server.join("other", "ann", as: ann).refusal == "403/20106")
            let joined = try await server.join("fresh", "ann", as: ann)
            #expect(joined.status == 201)
            #expect(try joined.decode(JoinAnswer.self).room.uniqueName == "fresh")
            #expect(try await server.join("a%20b", "ann").refusal == "400/53102")
        }
    }

    @Test("a field that a request does not have is refused by its path, and nothing changes")
    func unknownFields() async throws {
        try await ControlServer.run { (server) async throws in
            for (body, field) in [
                (#"{"unique_name":"a","max_host":3}"#, "max_host"),
                (#"{"unique_name":"a","layout":{"tpye":"GRID"}}"#, "layout.tpye"),
                (
                    #"{"unique_name":"a","program":{"renditions":[{"name":"360p","hieght":1}]}}"#,
                    "program.renditions[0].hieght"
                ),
            ] {
                let answer = try await server.ask("POST", "/v1/rooms", body)
                #expect(answer.refusal == "400/3073" && answer.error?.message == "\(field) is no field of this request")
            }
            #expect(server.directory.rooms().isEmpty)
            // What is null is taken for left out, and metadata is the application's own.
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"a","max_host":null}"#).status == 201)
            let join = #"{"identity":"ann","mode":"SEND_AND_RECV","metadata":{"any":{"thing":[1]}}}"#
            #expect(try await server.ask("POST", "/v1/rooms/a/participants", join).status == 201)
        }
    }
}
