import FootlightModel
import FootlightTesting
import Foundation
import Stage
import TestSupport
import Testing

@testable import ControlAPI

@Suite("Talkback routes")
struct TalkbackRoutesTests {
    private static let path = "/v1/rooms/show/talkback"
    /// A tenth of a second; every sample is 0x6261.
    private static let block = String(repeating: "ab", count: 4800)

    /// Runs `body` with a room of three hosts and a viewer; ann and bob have a return feed.
    private func withRoom(
        _ body:
            @escaping @Sendable (ControlServer, _ sids: [String: String], _ mixer: ControlServer.Bearer)
            async throws -> Void
    ) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            var sids: [String: String] = [:]
            for identity in ["ann", "bob", "cat"] {
                sids[identity] = try await server.join("show", identity).decode(JoinAnswer.self).participant.sid
            }
            _ = try await server.join("show", "dan", "RECV_ONLY")
            for identity in ["ann", "bob"] {
                let path = "/v1/rooms/show/participants/\(identity)/sound"
                #expect(try await server.ask("PUT", path, #"{"return_feed":true}"#).status == 200)
            }
            let token = try await server.tokens.issue(identity: "m", room: "show", role: .mixer, expiresIn: 60)
            try await body(server, sids, .token(token))
        }
    }

    @Test("A block reaches the mixer with the chosen hosts; those without a return feed are named in the answer")
    func block() async throws {
        try await withRoom { server, sids, mixer in
            let client = try server.events("/v1/rooms/show/mixer/talkback", as: mixer)
            defer { client.close() }
            var events = client.events.makeAsyncIterator()
            #expect(await events.next()?.retry == "2000")
            let all = try await server.ask("POST", Self.path + "?session=1&sequence=0", Self.block)
            let talk = try all.decode(TalkbackResource.self)
            #expect(talk == TalkbackResource(speaker: "operator", hosts: ["ann", "bob"], unreachable: ["cat"]))
            let first = await events.next()
            #expect(first?.name == "talkback" && first?.id == nil)
            let received = try WireJSON.decode(TalkbackBlock.self, from: Data((first?.text ?? "").utf8))
            #expect(Set(received.hosts) == [sids["ann"], sids["bob"]] && received.samples == Data(Self.block.utf8))
            #expect(received.values.count == 4800 && received.values.allSatisfy { $0 == Float(0x6261) / 32_768 })

            let bob = try #require(sids["bob"])
            let some = try await server.ask("POST", Self.path + "?session=1&sequence=1&hosts=\(bob),cat,dan,eve", "ab")
            let narrowed = TalkbackResource(speaker: "operator", hosts: ["bob"], unreachable: ["cat", "dan", "eve"])
            #expect(try some.decode(TalkbackResource.self) == narrowed)
            let second = try #require(await events.next()?.text)
            #expect(try WireJSON.decode(TalkbackBlock.self, from: Data(second.utf8)).hosts == [bob])
            #expect(try await server.ask("GET", Self.path).decode(TalkbackResource.self) == narrowed)
            let late = try await server.ask("POST", Self.path + "?session=1&sequence=1", "ab")
            #expect(try late.decode(TalkbackResource.self).dropped == 1)
            let logged = server.log.lines.filter { $0.metadata["action"]?.hasPrefix("POST") ?? false }
            #expect(logged.filter { $0.metadata["action"]?.hasSuffix("talkback") ?? false }.count == 1)
        }
    }

    @Test("One speaker at a time; another one is refused by name until the first ends the talk")
    func taken() async throws {
        try await withRoom { server, _, mixer in
            let client = try server.events("/v1/rooms/show/mixer/talkback", as: mixer)
            defer { client.close() }
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            #expect(try await server.ask("POST", Self.path + "?session=1&sequence=0", Self.block).status == 200)
            let other = try await server.ask("POST", Self.path + "?session=2&sequence=0", Self.block)
            #expect(other.refusal == "409/409" && other.error?.message == "operator speaks to the hosts")
            #expect(try await server.ask("DELETE", Self.path + "?session=2").status == 204)
            #expect(try await server.ask("GET", Self.path).decode(TalkbackResource.self).speaker == "operator")
            #expect(try await server.ask("DELETE", Self.path + "?session=1").status == 204)
            #expect(try await server.ask("GET", Self.path).decode(TalkbackResource.self) == TalkbackResource())
            #expect(try await server.ask("POST", Self.path + "?session=2&sequence=0", Self.block).status == 200)
        }
    }

    @Test("Without a mixer, with a malformed block, or for a room that has ended, a block is refused")
    func refused() async throws {
        try await withRoom { server, _, mixer in
            #expect(try await server.ask("POST", Self.path + "?session=1&sequence=0", "ab").refusal == "503/503")
            let client = try server.events("/v1/rooms/show/mixer/talkback", as: mixer)
            defer { client.close() }
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            let long = String(repeating: "a", count: 48_002)
            for (query, body, refusal) in [
                ("?sequence=0", "ab", "400/3073"), ("?session=1", "ab", "400/3073"),
                ("?session=1&sequence=-1", "ab", "400/3073"), ("?session=1&sequence=0&hosts=", "ab", "400/3073"),
                ("?session=1&sequence=0", "abc", "400/3073"), ("?session=1&sequence=0", "", "400/3073"),
                ("?session=1&sequence=0", long, "413/53004"), ("?session=1&sequence=0", "ab", "200/-"),
            ] {
                #expect(try await server.ask("POST", Self.path + query, body).refusal == refusal, "\(query)")
            }
            #expect(try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#).status == 200)
            #expect(try await server.ask("POST", Self.path + "?session=1&sequence=1", "ab").refusal == "404/53106")
        }
    }

    @Test("Those who run the show speak; other participants only read the state, and only the mixer reads the audio")
    func access() async throws {
        try await withRoom { server, _, mixer in
            let client = try server.events("/v1/rooms/show/mixer/talkback", as: mixer)
            defer { client.close() }
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            let ann = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "ann", room: "show", mode: .sendAndReceive, expiresIn: 60)
            )
            let block = Self.path + "?session=1&sequence=0"
            #expect(try await server.ask("GET", Self.path, as: ann).status == 200)
            for (method, path) in [
                ("POST", block), ("DELETE", block), ("GET", "/v1/rooms/show/mixer/talkback"),
            ] {
                let body = method == "POST" ? "ab" : nil
                #expect(try await server.ask(method, path, body, as: ann).refusal == "403/20106", "\(method) \(path)")
            }
            #expect(try await server.ask("GET", "/v1/rooms/show/mixer/talkback").refusal == "403/20106")
            #expect(try await server.ask("GET", Self.path, as: .unauthenticated).refusal == "401/20101")
        }
    }
}
