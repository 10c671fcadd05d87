import FootlightModel
import FootlightTesting
import Stage
import Synchronization
import Testing

@testable import ControlAPI

@Suite("Audio mix routes")
struct AudioRoutesTests {
    private static let path = "/v1/rooms/show/sound"
    private static let ann = "/v1/rooms/show/participants/ann/sound"

    @Test("A room's audio settings are changed in part, returned with the room, and set at its creation")
    func room() async throws {
        try await ControlServer.run { (server) async throws in
            let made = try await server.makeRoom("show", #","sound":{"duck":"pinned"},"linger":20"#)
            #expect(made.sound == RoomSoundResource(duck: "pinned") && made.linger == 20 && !made.wasOnAir)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            let answer = try await server.ask("PUT", Self.path, #"{"levelling":false,"duck_db":-12.5}"#)
            let wanted = RoomSoundResource(levelling: false, duck: "pinned", duckDB: -12.5)
            #expect(try answer.decode(RoomSoundResource.self) == wanted)
            let received = try #require(await events.next())
            #expect(received.name == "room.updated" && received.data?.room?.sound == wanted)
            #expect(try await server.ask("GET", Self.path).decode(RoomSoundResource.self) == wanted)
            #expect(server.persisted.withLock { $0.count } == 2, "kept for a restart before it was answered")
            client.close()
            #expect(try await server.makeRoom("plain").sound == RoomSoundResource(duck: "priority"))
        }
    }

    @Test("A host's audio settings are changed in part and returned with the participant")
    func participant() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let joined = try await server.join("show", "ann").decode(JoinAnswer.self)
            #expect(joined.participant.sound == ParticipantSoundResource() && joined.participant.sync == nil)
            let first = try await server.ask("PUT", Self.ann, #"{"gain_db":-60,"priority":true}"#)
            let participant = try first.decode(ParticipantResource.self)
            #expect(participant.sound == ParticipantSoundResource(gainDB: -60, priority: true))
            let second = try await server.ask("PUT", Self.ann, #"{"return_feed":true,"gain_db":12}"#)
            #expect(
                try second.decode(ParticipantResource.self).sound
                    == ParticipantSoundResource(gainDB: 12, priority: true, returnFeed: true)
            )
            for (path, target) in [(Self.ann, 60), (Self.path, 100)] {
                let body = #"{"jitter_target":\#(target)}"#
                #expect(try await server.ask("PUT", path, body).status == 200)
            }
            let kept = try await server.ask("PUT", Self.ann, #"{"gain_db":0}"#).decode(ParticipantResource.self)
            #expect(kept.sound.jitterTarget == 60, "what is left out stays")
            let usual = try await server.ask("PUT", Self.ann, #"{"jitter_target":null}"#)
            #expect(try usual.decode(ParticipantResource.self).sound.jitterTarget == nil)
            #expect(try await server.ask("GET", Self.path).decode(RoomSoundResource.self).jitterTarget == 100)
        }
    }

    @Test("Invalid values are refused naming the field")
    func faults() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            for (path, body, code, words) in [
                (Self.path, #"{"duck":"loud"}"#, 3073, "duck must be one of off, pinned, priority, both"),
                (Self.path, #"{"duck_db":1}"#, 3073, "duck_db must be between -30 and 0"),
                (Self.path, #"{"jitter_target":59}"#, 3073, "jitter_target must be between 60 and 2000"),
                (Self.ann, #"{"jitter_target":2001}"#, 3073, "jitter_target must be between 60 and 2000"),
                (Self.path, #"{"levelling":"yes"}"#, 53004, "levelling must be true or false"),
                (Self.ann, #"{"gain_db":12.1}"#, 3073, "gain_db must be between -60 and 12"),
                (Self.ann, #"{"priority":1}"#, 53004, "priority must be true or false"),
            ] {
                let answer = try await server.ask("PUT", path, body)
                #expect(answer.refusal == "400/\(code)", "\(body)")
                #expect(answer.error?.message.contains(words) == true, "\(answer.text)")
            }
            #expect(try await server.ask("PUT", "/v1/rooms/show/participants/bob/sound", "{}").refusal == "404/53204")
            for more in [#","linger":61"#, #","sound":{"duck_db":-31}"#] {
                let answer = try await server.ask("POST", "/v1/rooms", #"{"unique_name":"b"\#(more)}"#)
                #expect(answer.refusal == "400/3073")
            }
        }
    }

    @Test("Those who run the show change the mix; other participants only read it")
    func access() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "ann", room: "show", mode: .sendAndReceive, expiresIn: 60)
            )
            _ = try await server.join("show", "ann", as: ann)
            #expect(try await server.ask("GET", Self.path, as: ann).status == 200)
            #expect(try await server.ask("PUT", Self.path, "{}", as: ann).refusal == "403/20106")
            #expect(try await server.ask("PUT", Self.ann, #"{"gain_db":12}"#, as: ann).refusal == "403/20106")
        }
    }

    @Test("A host's sync statistics are those of the mixer's last report")
    func sync() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let joined = try await server.join("show", "ann").decode(JoinAnswer.self)
            let mixer = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "m", room: "show", role: .mixer, expiresIn: 60)
            )
            let sync =
                #"{"target_ms":60,"offset_ms":12.5,"drift_ppm":-3,"buffer_ms":280,"late":1,"duplicated":2,"dropped":3}"#
            let report =
                #"{"participants":[{"sid":"\#(joined.participant.sid)","audio_level":-20,"subscribed":[],"#
                + #""sync":\#(sync),"screen_sync":\#(sync.replacing("12.5", with: "7"))}]}"#
            #expect(try await server.ask("POST", "/v1/rooms/show/mixer/report", report, as: mixer).status == 204)
            let ann = try await server.ask("GET", "/v1/rooms/show/participants/ann").decode(ParticipantResource.self)
            let wanted = SyncResource(
                targetMS: 60,
                offsetMS: 12.5,
                driftPPM: -3,
                bufferMS: 280,
                late: 1,
                duplicated: 2,
                dropped: 3
            )
            #expect(ann.sync == wanted)
            #expect(ann.screenSync?.offsetMS == 7 && ann.screenSync?.dropped == 3)
        }
    }

    @Test("Levels are streamed with each report, without event ids, until the room ends")
    func levels() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let sid = try await server.join("show", "ann").decode(JoinAnswer.self).participant.sid
            let mixer = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "m", room: "show", role: .mixer, expiresIn: 60)
            )
            func report(_ peak: Int) async throws {
                let body =
                    #"{"participants":[{"sid":"\#(sid)","audio_level":-20,"subscribed":[],"peak":\#(peak),"#
                    + #""levelling_db":3},{"sid":"PAx","audio_level":null,"subscribed":[]}],"#
                    + #""program":{"peak":-2,"limiting_db":-1}}"#
                #expect(try await server.ask("POST", "/v1/rooms/show/mixer/report", body, as: mixer).status == 204)
            }
            let client = try server.events("/v1/rooms/show/levels")
            defer { client.close() }
            var events = client.events.makeAsyncIterator()
            let opening = await events.next()
            #expect(opening?.retry == "2000")
            for peak in [-9, -3] {
                try await report(peak)
                let next = await events.next()
                let event = try #require(next)
                #expect(event.id == nil && event.name == "levels")
                let host = #"{"level":-20,"levelling_db":3,"peak":\#(peak),"sid":"\#(sid)"}"#
                #expect(event.text == #"{"hosts":[\#(host)],"program":{"limiting_db":-1,"peak":-2}}"#)
            }
            #expect(try await server.ask("GET", "/v1/rooms/show/levels", as: .unauthenticated).refusal == "401/20101")
            #expect(try await server.ask("GET", "/v1/rooms/none/levels").refusal == "404/53106")
        }
    }
}
