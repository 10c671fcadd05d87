import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Testing
import Viewership

@testable import ControlAPI

@Suite("Events of a show")
struct RoomEventsTests {
    private static let events = "/v1/rooms/show/events"

    private func next(
        _ events: inout AsyncStream<EventClient.Event>.AsyncIterator,
        named name: String
    ) async -> EventResource? {
        while let event = await events.next() {
            if event.name == name { return event.data }
        }
        return nil
    }

    @Test("The mixer's report subscribes tracks and sets the dominant speaker; null if there is none (V25, T5)")
    func mixerReport() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let mixer = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "mixer", room: "show", role: .mixer, expiresIn: 600)
            )
            let joined = try await server.join("show", "ann").decode(JoinAnswer.self)
            let sid = joined.participant.sid
            try server.encode(joined)
            let client = try server.events(Self.events)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            func report(_ level: Double, times: Int) async throws {
                let body = #"{"participants":[{"sid":"\#(sid)","audio_level":\#(level),"subscribed":["mic"]}]}"#
                for _ in 0..<times {
                    let answer = try await server.ask("POST", "/v1/rooms/show/mixer/report", body, as: mixer)
                    #expect(answer.status == 204)
                    clock.advance(by: .milliseconds(100))
                }
            }
            try await report(-20, times: 10)
            let subscribed = try #require(await next(&events, named: "track.subscribed"))
            #expect(subscribed.track?.mediaState == "playable" && subscribed.participant?.isMicOn == true)
            let spoke = try #require(await next(&events, named: "dominant_speaker.changed"))
            #expect(spoke.sid?.wrappedValue == sid && spoke.reason == "began")
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(room.dominantSpeakerSID == sid)
            let ann = try await server.ask("GET", "/v1/rooms/show/participants/ann").decode(ParticipantResource.self)
            #expect(ann.isSpeaking && ann.isDominantSpeaker && ann.audioLevel == -20)

            try await report(-127, times: 60)
            let silent = try #require(await next(&events, named: "dominant_speaker.changed"))
            #expect(silent.sid == ExplicitNull(wrappedValue: nil) && silent.previousSID?.wrappedValue == sid)
            client.close()
        }
    }

    @Test("Only the room's own mixer reports, and only valid reports")
    func mixerFaults() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            let token = try await server.tokens.issue(identity: "mixer", room: "show", role: .mixer, expiresIn: 60)
            let mixer = ControlServer.Bearer.token(token)
            let path = "/v1/rooms/show/mixer/report"
            let body = #"{"participants":[]}"#
            #expect(try await server.ask("POST", path, body, as: mixer).status == 204)
            #expect(try await server.ask("POST", path, body).refusal == "403/20106", "not even an operator")
            #expect(
                try await server.ask("POST", "/v1/rooms/other/mixer/report", body, as: mixer).refusal == "403/20106"
            )
            for (fault, refusal) in [
                ("{}", "400/53004"), (#"{"participants":[{"sid":"x"}]}"#, "400/53004"),
                (#"{"participants":[{"sid":"x","subscribed":["lamp"]}]}"#, "400/53301"),
                (#"{"participants":[],"load":{"level":1,"reason":"fire","work":1,"cores":1}}"#, "400/3073"),
                (#"{"participants":[{"sid":"x","audio_level":"loud","subscribed":[]}]}"#, "400/53004"),
            ] {
                #expect(try await server.ask("POST", path, fault, as: mixer).refusal == refusal, "\(fault)")
            }
        }
    }

    @Test("V14 and V16 viewership.updated contains current numbers; mode changes keep their order")
    func viewership() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            #expect(try await server.ask("PUT", "/v1/rooms/show/participants/ann/tracks/mic").status == 200)
            var report = RoomViewership(room: "show", asOf: 1)
            report.concurrent = 43
            report.anonymous = 41
            server.viewership.set(report)
            let client = try server.events(Self.events)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            let snapshot = try #require(await events.next()?.data)
            #expect(snapshot.room?.counts.audience == 43)

            let mode = #"{"mode":"RECV_ONLY"}"#
            #expect(try await server.ask("POST", "/v1/rooms/show/participants/ann/mode", mode).status == 200)
            var names: [String] = []
            while let event = await events.next(), let name = event.name {
                names.append(name)
                if name == "track.unpublished" { #expect(event.data?.reason == "mode_changed") }
                if name == "participant.mode_changed" { #expect(event.data?.previousMode == "SEND_AND_RECV") }
                if name == "viewership.updated" {
                    #expect(event.data?.viewership?.concurrentViewers == 43)
                    #expect(event.data?.counts?.anonymous == 41 && event.data?.counts?.hosts == 0)
                }
                if name == "layout.changed" { break }
            }
            #expect(names == ["track.unpublished", "participant.mode_changed", "viewership.updated", "layout.changed"])
            client.close()
        }
    }

    @Test("viewership.updated causes one query for all readers of a room, and contains that report")
    func oneQueryPerUpdate() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            var report = RoomViewership(
                room: "show",
                devices: 40,
                anonymous: 41,
                counts: AudienceCounts(joins: 50, switches: 2, watched: 1500, startup: 300, startups: 2),
                asOf: 1,
                byProtocol: [.hls: 42]
            )
            report.byRegion = ["DE": 42]
            let clients = try (0..<20).map { _ in try server.events(Self.events) }
            var readers = clients.map { $0.events.makeAsyncIterator() }
            for index in readers.indices { _ = await next(&readers[index], named: "room.snapshot") }
            for viewers in [42, 43] {
                report.concurrent = viewers
                server.viewership.set(report)
                let before = server.viewership.queryCount
                server.directory.viewershipChanged(room: "show", viewers: viewers)
                clock.advance(by: .seconds(2))
                server.directory.sweep()
                var events: Set<EventResource> = []
                for index in readers.indices {
                    events.insert(try #require(await next(&readers[index], named: "viewership.updated")))
                }
                #expect(server.viewership.queryCount == before + 1)
                #expect(events.count == 1)
                #expect(events.first?.viewership == ViewershipResource(report))
                let counts = RoomCounts(hosts: 1)
                #expect(events.first?.counts == CountsResource(counts, audience: report))
            }
            // A reader that reconnects receives the same events.
            let before = server.viewership.queryCount
            let late = try server.events(Self.events, headers: ["Last-Event-ID": "1"])
            var events = late.events.makeAsyncIterator()
            for viewers in [42, 43] {
                let event = await next(&events, named: "viewership.updated")
                #expect(event?.viewership?.concurrentViewers == viewers)
            }
            #expect(server.viewership.queryCount == before)
            for client in clients + [late] { client.close() }
        }
    }

    @Test("D34, D35 and V22 changes of the livestream and of HLS reach the stream")
    func egress() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let client = try server.events(Self.events)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            server.directory.livestreamChanged(room: "show", LivestreamStatus(state: .starting))
            #expect(await next(&events, named: "livestream.state_changed")?.livestream?.state == "LIVESTREAM_STARTING")
            let warning = LivestreamWarning(.outputInterrupted, output: "yt", message: "lost")
            server.directory.livestreamWarned(room: "show", warning)
            let warned = try #require(await next(&events, named: "livestream.warning")?.warning)
            #expect(warned.output == "yt" && warned.reason == "output_interrupted" && warned.code == 5002)
            server.directory.livestreamFailed(room: "show", .livestreamNotStarted("nothing answers"))
            #expect(await next(&events, named: "livestream.error")?.error?.code == 4013)
            server.directory.hlsChanged(room: "show", HLSStatus(state: .playable, playableAt: 5))
            let hls = try #require(await next(&events, named: "hls.state_changed")?.hls)
            #expect(hls.state == "HLS_PLAYABLE" && hls.playbackHLSURL?.hasSuffix("/live/show/index.m3u8") ?? false)
            client.close()
        }
    }

    @Test("Names and metadata change within their limits, and are reported")
    func describing() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let body =
                #"{"identity":"ann","mode":"SEND_AND_RECV","metadata":{"seat":3},"call_settings":{"video_on":false},"#
                + #""connect_options":{"max_bitrate":2500,"width":640,"height":360}}"#
            let joined = try await server.ask("POST", "/v1/rooms/show/participants", body).decode(JoinAnswer.self)
            #expect(joined.participant.metadata == ["seat": .number(3)])
            #expect(!joined.callSettings.videoOn && joined.callSettings.audioOn, "what is not wished has its default")
            #expect(joined.connectOptions == ConnectOptionsResource(maxBitrate: 2500, width: 640, height: 360), "T18")
            let path = "/v1/rooms/show/participants/ann"
            let client = try server.events(Self.events)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            let change = #"{"display_name":"Ann B.","metadata":{"seat":4,"tags":["x"]}}"#
            let changed = try await server.ask("PATCH", path, change).decode(ParticipantResource.self)
            #expect(changed.displayName == "Ann B." && changed.revision > joined.participant.revision)
            #expect(changed.metadata == ["seat": .number(4), "tags": .array([.string("x")])])
            let received = try #require(await next(&events, named: "participant.updated")?.participant)
            #expect(received.metadata == changed.metadata && received.displayName == "Ann B.")
            let large = #"{"metadata":{"a":"\#(String(repeating: "x", count: 5000))"}}"#
            // One letter with many combining accents is one character.
            let accents = "n" + String(repeating: "\u{301}", count: 200)
            for (fault, words) in [
                (large, "metadata"), (#"{"display_name":"\#(String(repeating: "n", count: 101))"}"#, "name"),
                (#"{"display_name":"\#(accents)"}"#, "400 bytes"),
            ] {
                let answer = try await server.ask("PATCH", path, fault)
                #expect(answer.refusal == "400/3073" && answer.error?.message.contains(words) ?? false)
            }
            #expect(try await server.ask("PATCH", path, #"{"metadata":[]}"#).refusal == "400/53004")
            let odd = #"{"identity":"x","mode":"RECV_ONLY","call_settings":{"camera_position":"up"}}"#
            #expect(try await server.ask("POST", "/v1/rooms/show/participants", odd).refusal == "400/3073")
            client.close()
        }
    }
}

@Suite("A host on air whose media stops")
struct MediaTimeoutRoutesTests {
    @Test("53405 missing media is reported as reconnecting, and after 30 s the host receives the error and is removed")
    func silence() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let ann = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "ann", room: "show", mode: .sendAndReceive, expiresIn: 600)
            )
            let joined = try await server.join("show", "ann", as: ann).decode(JoinAnswer.self)
            let path = "/v1/rooms/show/participants/ann"
            let client = try server.events(
                "/v1/rooms/show/events?participant=ann&session_id=\(joined.sessionID)",
                as: ann
            )
            #expect(try await server.ask("PUT", path + "/tracks/mic", as: ann).status == 200)
            let key = try #require(joined.ingest?.rtmp.streamKey)
            let grant = try server.directory.authorizePublish(streamKey: key).get()
            server.directory.publishBegan(grant, connection: 1)
            server.directory.publishChanged(grant, connection: 1, media: PublishedMedia(hasAudio: true))
            let beat = #"{"session_id":"\#(joined.sessionID)"}"#
            func pass(seconds: Int) async throws {
                for _ in 0..<seconds / 5 {
                    clock.advance(by: .seconds(5))
                    _ = try await server.ask("POST", path + "/heartbeat", beat, as: ann)
                    server.directory.sweep()
                }
            }
            try await pass(seconds: 60)
            #expect(try server.directory.participant("ann", in: "show").status == .connected)

            server.directory.publishChanged(grant, connection: 1, media: PublishedMedia())
            #expect(try server.directory.participant("ann", in: "show").status == .reconnecting)
            try await pass(seconds: 25)
            #expect(try server.directory.participant("ann", in: "show").status == .reconnecting)
            try await pass(seconds: 10)
            #expect(try server.directory.room("show").participants.isEmpty)

            var seen: [EventClient.Event] = []
            for await event in client.events { seen.append(event) }
            let reconnecting = seen.filter { $0.name == "participant.reconnecting" }
            #expect(reconnecting.count == 1 && reconnecting.first?.data?.code == 53405)
            #expect(seen.last?.name == "session.disconnected" && seen.last?.data?.error?.code == 53405)
        }
    }
}
