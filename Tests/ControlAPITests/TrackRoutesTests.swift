import ControlAPI
import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Testing

@Suite("Track routes")
struct TrackRoutesTests {
    private static let tracks = "/v1/rooms/show/participants/ann/tracks"

    private func bearer(
        _ server: ControlServer,
        _ identity: String,
        _ modes: [ParticipantMode] = [.sendAndReceive],
        sources: Set<TrackName>? = nil,
        administers: Set<String> = []
    ) async throws -> ControlServer.Bearer {
        let claims = AccessClaims(
            identity: identity,
            role: .participant,
            room: "show",
            modes: modes,
            sources: sources,
            administers: administers,
            expiresAt: Date().timeIntervalSince1970 + 600
        )
        return .token(try await server.tokens.issue(claims))
    }

    @Test("T1, T6 and T7 a track is published, muted, unmuted and unpublished, and events report each step")
    func life() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await bearer(server, "ann")
            _ = try await server.join("show", "ann", as: ann)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()

            let mic = "\(Self.tracks)/mic"
            let published = try await server.ask("PUT", mic, #"{"kind":"audio"}"#, as: ann)
            #expect(published.status == 200)
            let track = try published.decode(TrackResource.self)
            #expect(track.name == "mic" && track.kind == "audio" && track.enabled && track.published)
            #expect(!track.subscribed && track.mediaState == "loading")
            #expect(try await server.ask("PUT", mic, as: ann).refusal == "409/53304")
            let muted = try await server.ask("PATCH", mic, #"{"enabled":false}"#, as: ann).decode(TrackResource.self)
            #expect(!muted.enabled && muted.mediaState == "off" && muted.sid == track.sid)
            #expect(try await server.ask("PATCH", mic, #"{"enabled":true}"#, as: ann).status == 200)
            #expect(try await server.ask("DELETE", mic, as: ann).status == 204)
            #expect(try await server.ask("DELETE", mic, as: ann).status == 204, "taken back twice is fine")
            #expect(try await server.ask("PATCH", mic, #"{"enabled":true}"#, as: ann).refusal == "404/53300")

            var received: [String] = []
            while let event = await events.next() {
                guard let name = event.name, name.hasPrefix("track.") else { continue }
                received.append(name)
                #expect(event.data?.track?.name == "mic" && event.data?.participant?.identity == "ann")
                if name == "track.unpublished" {
                    #expect(event.data?.reason == "unpublished" && event.data?.track?.published == false)
                    break
                }
            }
            #expect(received == ["track.published", "track.disabled", "track.enabled", "track.unpublished"])
            client.close()
        }
    }

    @Test("V3 a participant that is not a host cannot publish: 3066")
    func audience() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for (identity, mode) in [("ann", ParticipantMode.receiveOnly), ("ben", .signallingOnly)] {
                let bearer = try await bearer(server, identity, [mode])
                _ = try await server.join("show", identity, mode.rawValue, as: bearer)
                let path = "/v1/rooms/show/participants/\(identity)/tracks/camera"
                let before = try server.directory.room("show").revision
                #expect(try await server.ask("PUT", path, as: bearer).refusal == "403/3066")
                #expect(try await server.ask("PUT", path).refusal == "403/3066")
                #expect(try await server.ask("PATCH", path, #"{"enabled":false}"#, as: bearer).refusal == "403/3066")
                #expect(try await server.ask("DELETE", path, as: bearer).refusal == "403/3066")
                #expect(try server.directory.room("show").revision == before, "nothing changes")
            }
        }
    }

    @Test("20106 a token names the tracks that may be published; without names there are none")
    func sources() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await bearer(server, "ann", sources: [.mic])
            _ = try await server.join("show", "ann", as: ann)
            #expect(try await server.ask("PUT", "\(Self.tracks)/mic", as: ann).status == 200)
            for name in ["camera", "screen"] {
                #expect(try await server.ask("PUT", "\(Self.tracks)/\(name)", as: ann).refusal == "403/20106")
            }
            let mute = try await bearer(server, "ann", sources: [])
            _ = try await server.join("show", "ann", as: mute)
            #expect(try await server.ask("PUT", "\(Self.tracks)/mic", as: mute).refusal == "403/20106")
        }
    }

    @Test("53301 and 53303 a track has one of three names; microphone is an alias of mic; the kind must match")
    func names() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            #expect(try await server.ask("PUT", "\(Self.tracks)/lamp").refusal == "400/53301")
            #expect(try await server.ask("PUT", "\(Self.tracks)/a%20b").refusal == "400/53303")
            #expect(try await server.ask("PUT", "\(Self.tracks)/mic", #"{"kind":"video"}"#).refusal == "400/3073")
            #expect(try await server.ask("PUT", "\(Self.tracks)/mic", #"{"kind":"smell"}"#).refusal == "400/3073")
            #expect(try await server.ask("PUT", "\(Self.tracks)/mic", #"{"enabled":"yes"}"#).refusal == "400/53004")
            #expect(try await server.ask("PATCH", "\(Self.tracks)/mic", "{}").refusal == "400/53004")
            let alias = try await server.ask("PUT", "\(Self.tracks)/microphone", #"{"enabled":false}"#)
            #expect(try alias.decode(TrackResource.self).name == "mic")
        }
    }

    @Test("A moderator may mute others but not unmute them; other participants may do neither")
    func moderation() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            let moderator = try await bearer(server, "mod", [.signallingOnly], administers: ["participants"])
            let ben = try await bearer(server, "ben")
            let mic = "\(Self.tracks)/mic"
            #expect(try await server.ask("PUT", mic, as: moderator).refusal == "403/20106")
            #expect(try await server.ask("PUT", mic).status == 200, "an operator publishes for whom it joined")
            #expect(try await server.ask("PATCH", mic, #"{"enabled":false}"#, as: ben).refusal == "403/20106")
            #expect(try await server.ask("DELETE", mic, as: ben).refusal == "403/20106")
            #expect(try await server.ask("PATCH", mic, #"{"enabled":false}"#, as: moderator).status == 200)
            #expect(try await server.ask("PATCH", mic, #"{"enabled":true}"#, as: moderator).refusal == "403/20106")
            #expect(try await server.ask("DELETE", mic, as: moderator).status == 204)
        }
    }

    @Test("3035 commands of a bearer that has not joined, 53204 for an unknown participant")
    func notJoined() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await bearer(server, "ann")
            #expect(try await server.ask("PUT", "\(Self.tracks)/mic", as: ann).refusal == "409/3035")
            let mode = #"{"mode":"RECV_ONLY"}"#
            #expect(
                try await server.ask("POST", "/v1/rooms/show/participants/ann/mode", mode, as: ann).refusal
                    == "409/3035"
            )
            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/ann", as: ann).refusal == "409/3035")
            #expect(try await server.ask("PUT", "\(Self.tracks)/mic").refusal == "404/53204")
        }
    }
}
