import ControlAPI
import FootlightModel
import FootlightTesting
import Stage
import Testing

@Suite("Livestream routes")
struct LivestreamRoutesTests {
    private static let path = "/v1/rooms/show/livestream"

    @Test("Outputs are started, added, removed and stopped, and no response contains a stream key")
    func life() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let started = try await server.ask(
                "POST",
                "\(Self.path)/start",
                #"{"outputs":[{"name":"yt","url":"rtmp://a.example/live","stream_key":"topsecret1"},"#
                    + #"{"url":"rtmp://b.example/live","stream_key":"topsecret2"}],"quality":"720p","fps":30,"#
                    + #""video_bitrate":3000,"audio_bitrate":128}"#
            )
            #expect(started.status == 202)
            #expect(try started.decode(LivestreamResource.self).outputs.map(\.name) == ["yt", "output-1"])
            #expect(server.livestreams.targets("show").map(\.streamKey) == ["topsecret1", "topsecret2"])

            let one = #"{"url":"rtmp://c.example/live","stream_key":"topsecret3"}"#
            let added = try await server.ask("POST", "\(Self.path)/outputs", one)
            #expect(added.status == 202)
            #expect(try added.decode(LivestreamResource.self).outputs.map(\.name) == ["yt", "output-1", "output-2"])
            let several = try await server.ask("POST", "\(Self.path)/outputs", #"{"outputs":[\#(one)]}"#)
            #expect(try several.decode(LivestreamResource.self).outputs.count == 4)

            let egress = try await server.ask("GET", "/v1/rooms/show/egress")
            #expect(try egress.decode(EgressResource.self).broadcasting)
            for answer in [started, added, several, egress] {
                #expect(!answer.text.contains("topsecret"))
                #expect(answer.text.contains("****ret1"))
            }
            #expect(try await server.ask("POST", "\(Self.path)/outputs/yt/retry").status == 202)
            #expect(server.livestreams.retried == ["yt"])
            #expect(try await server.ask("POST", "\(Self.path)/outputs/none/retry").refusal == "409/4014")
            for name in ["yt", "output-1", "output-2"] {
                #expect(try await server.ask("DELETE", "\(Self.path)/outputs/\(name)").status == 200)
            }
            #expect(try await server.ask("DELETE", "\(Self.path)/outputs/output-3").refusal == "409/4015")
            #expect(try await server.ask("POST", "\(Self.path)/stop").status == 202)
            let after = try await server.ask("GET", "/v1/rooms/show/egress").decode(EgressResource.self)
            #expect(!after.broadcasting && after.livestream.state == "LIVESTREAM_STOPPED")
        }
    }

    @Test("An output's rendition and backup URL reach the pusher, and only existing renditions are accepted")
    func renditionAndSpare() async throws {
        try await ControlServer.run { (server) async throws in
            let ladder = #"[{"name":"180p","width":320,"height":180,"video_bitrate":300}]"#
            try await server.makeRoom("show", #","program":{"width":640,"height":360,"renditions":\#(ladder)}"#)
            func start(_ rendition: String) async throws -> ControlServer.Answer {
                let small =
                    #"{"name":"small","url":"rtmp://a.example/live","stream_key":"k1","rendition":"\#(rendition)","#
                    + #""spare_url":"rtmp://b.example/live","spare_stream_key":"k2"}"#
                let whole = #"{"url":"rtmp://c.example/live","stream_key":"k3","spare_url":"rtmp://d.example/live"}"#
                return try await server.ask("POST", "\(Self.path)/start", #"{"outputs":[\#(small),\#(whole)]}"#)
            }
            #expect(try await start("360p").refusal == "400/3073")
            #expect(try await start("180p").status == 202)
            let targets = server.livestreams.targets("show")
            #expect(targets.map(\.rendition) == ["180p", nil])
            #expect(targets.map(\.backupURL) == ["rtmp://b.example/live", "rtmp://d.example/live"])
            #expect(targets.map(\.backupStreamKey) == ["k2", nil])
            #expect(targets.map { $0.feed(of: "show") } == ["show.rendition.180p", "show"])
            #expect(targets.map { $0.figures?.width } == [320, 640])
        }
    }

    @Test("Every error has its code")
    func faults() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let output = #"{"name":"a","url":"rtmp://a.example/live","stream_key":"k"}"#
            for (body, refusal) in [
                ("", "400/53004"),
                (#"{"outputs":[]}"#, "400/4015"),
                (#"{"outputs":[{"url":"rtmp://a"}]}"#, "400/53004"),
                (#"{"outputs":[\#(output),\#(output)]}"#, "400/4015"),
                (#"{"outputs":[{"name":"a b","url":"u","stream_key":"k"}]}"#, "400/4015"),
                (#"{"outputs":[\#(output)],"quality":"8k"}"#, "400/3073"),
                (#"{"outputs":[\#(output)],"quality":"1080p"}"#, "400/3073"),
                (#"{"outputs":[\#(output)],"width":1279}"#, "400/3073"),
                (#"{"outputs":[\#(output)],"video_bitrate":10001}"#, "400/3073"),
                (#"{"outputs":[\#(output)],"audio_bitrate":9}"#, "400/3073"),
                (#"{"outputs":[\#(output)],"fps":25}"#, "400/3073"),
                (#"{"outputs":[\#(output)],"fps":0}"#, "400/3073"),
            ] {
                #expect(try await server.ask("POST", "\(Self.path)/start", body).refusal == refusal, "\(body)")
            }
            #expect(server.livestreams.targets("show").isEmpty)
            #expect(try await server.ask("POST", "\(Self.path)/stop").refusal == "409/4014")
            #expect(try await server.ask("POST", "\(Self.path)/outputs", output).refusal == "409/4014")
            #expect(try await server.ask("DELETE", "\(Self.path)/outputs/a").refusal == "409/4014")
            #expect(try await server.ask("POST", "\(Self.path)/start", #"{"outputs":[\#(output)]}"#).status == 202)
            #expect(
                try await server.ask("POST", "\(Self.path)/start", #"{"outputs":[\#(output)]}"#).refusal == "409/3054"
            )
            #expect(try await server.ask("POST", "\(Self.path)/outputs", output).refusal == "400/4015")
            #expect(try await server.ask("POST", "/v1/rooms/none/livestream/stop").refusal == "404/53106")
        }
    }

    @Test("A start with an invalid layout starts nothing, and of several outputs all are added or none")
    func allOrNothing() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let output = #"{"name":"a","url":"rtmp://a.example/live","stream_key":"k"}"#
            for layout in [#"{"grid_size":13}"#, #"{"type":"PILE"}"#] {
                let start = #"{"outputs":[\#(output)],"layout":\#(layout)}"#
                #expect(try await server.ask("POST", "\(Self.path)/start", start).refusal == "400/3073", "\(layout)")
                let playlist = try await server.ask("POST", "/v1/rooms/show/hls/start", #"{"layout":\#(layout)}"#)
                #expect(playlist.refusal == "400/3073", "\(layout)")
            }
            #expect(server.livestreams.targets("show").isEmpty)
            #expect(server.hls.status(room: "show").state == .stopped)

            #expect(try await server.ask("POST", "\(Self.path)/start", #"{"outputs":[\#(output)]}"#).status == 202)
            let good = #"{"name":"b","url":"rtmp://b.example/live","stream_key":"k"}"#
            for bad in [
                #"{"name":"c","url":"http://c.example","stream_key":"k"}"#, good,
                #"{"name":"c d","url":"rtmp://c.example/live","stream_key":"k"}"#,
            ] {
                let answer = try await server.ask("POST", "\(Self.path)/outputs", #"{"outputs":[\#(good),\#(bad)]}"#)
                #expect(answer.refusal == "400/4015", "\(bad)")
                #expect(server.livestreams.targets("show").map(\.name) == ["a"], "\(bad)")
            }
        }
    }

    @Test("D36 durations are passed on, with their defaults, and validated")
    func options() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let output = #"{"name":"a","url":"rtmp://a.example/live","stream_key":"k"}"#
            for (times, words) in [
                (#""max_duration":0"#, "max_duration"), (#""min_idle_timeout":0"#, "min_idle_timeout"),
            ] {
                let answer = try await server.ask("POST", "\(Self.path)/start", #"{"outputs":[\#(output)],\#(times)}"#)
                #expect(answer.refusal == "400/3073" && answer.error?.message.contains(words) ?? false)
            }
            let body = #"{"outputs":[\#(output)],"max_duration":60,"layout":{"type":"SIDEBAR"}}"#
            #expect(try await server.ask("POST", "\(Self.path)/start", body).status == 202)
            #expect(server.livestreams.options?.maximumDuration == 60)
            #expect(server.livestreams.options?.minimumIdleTimeout == 300)
            #expect(try server.directory.room("show").settings.layout.kind == .sidebar)
        }
    }

    @Test("A livestream given with the room starts once a host's media arrives, and not backstage")
    func autoStart() async throws {
        try await ControlServer.run { (server) async throws in
            let output = #"{"name":"yt","url":"rtmp://a.example/live","stream_key":"topsecret"}"#
            let wrong = #","auto_start":{"livestream":{"outputs":[]}}"#
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"x"\#(wrong)}"#).refusal == "400/4015")
            let more = #","backstage":true,"auto_start":{"livestream":{"outputs":[\#(output)]},"hls":{}}"#
            try await server.makeRoom("show", more)
            let joined = try await server.join("show", "ann").decode(JoinAnswer.self)
            let sid = joined.participant.sid
            try server.encode(joined)
            let mixer = try await server.tokens.issue(identity: "m", room: "show", role: .mixer, expiresIn: 60)
            let report = #"{"participants":[{"sid":"\#(sid)","audio_level":null,"subscribed":["mic"]}]}"#
            let path = "/v1/rooms/show/mixer/report"
            #expect(try await server.ask("POST", path, report, as: .token(mixer)).status == 204)
            #expect(server.livestreams.targets("show").isEmpty, "still backstage")
            #expect(try await server.ask("POST", "/v1/rooms/show/go_live").status == 200)
            #expect(server.livestreams.targets("show").map(\.name) == ["yt"])
        }
    }

    @Test("The layout of a livestream or of HLS that is given with the room applies to it; a wrong one creates no room")
    func autoStartLayout() async throws {
        try await ControlServer.run { (server) async throws in
            func create(_ name: String, _ kind: String, _ rest: String = "") async throws -> ControlServer.Answer {
                let body = #"{"unique_name":"\#(name)","auto_start":{"\#(kind)":{\#(rest)}}}"#
                return try await server.ask("POST", "/v1/rooms", body)
            }
            let wrong = try await create("show", "hls", #""layout":{"type":"CIRCLE"}"#)
            #expect(wrong.refusal == "400/3073" && wrong.text.contains("auto_start.hls.layout.type"))
            #expect(throws: StageError.roomNotFound) { try server.directory.room("show") }
            #expect(try await create("show", "hls", #""layout":{"type":"SIDEBAR"}"#).status == 201)
            #expect(try server.directory.room("show").settings.layout.kind == .sidebar)
            let output = #""outputs":[{"name":"yt","url":"rtmp://a.example/live","stream_key":"topsecret"}]"#
            #expect(try await create("other", "livestream", output + #","layout":{"type":"SPOTLIGHT"}"#).status == 201)
            #expect(try server.directory.room("other").settings.layout.kind == .spotlight)
        }
    }
}

@Suite("HLS routes")
struct HLSRoutesTests {
    private static let path = "/v1/rooms/show/hls"

    @Test("V23 HLS starts, becomes playable with a URL, and stops; commands in the wrong state are refused")
    func life() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            func egress() async throws -> EgressResource {
                try await server.ask("GET", "/v1/rooms/show/egress").decode(EgressResource.self)
            }
            let before = try await egress()
            #expect(before.hls == HLSResource(state: "HLS_STOPPED", startedAt: nil, playbackHLSURL: nil))
            #expect(try await server.ask("POST", "\(Self.path)/stop").error?.code == 4017)
            let started = try await server.ask("POST", "\(Self.path)/start", #"{"layout":{"type":"SPOTLIGHT"}}"#)
            #expect(started.status == 202)
            #expect(try started.decode(HLSResource.self).state == "HLS_STARTING")
            #expect(try server.directory.room("show").settings.layout.kind == .spotlight)
            #expect(try await server.ask("POST", "\(Self.path)/start").refusal == "409/3054")

            server.hls.set(HLSStatus(state: .playable, playableAt: 100), room: "show")
            let playable = try await egress()
            #expect(playable.broadcasting && playable.hls.state == "HLS_PLAYABLE")
            #expect(playable.hls.playbackHLSURL?.hasSuffix("/live/show/index.m3u8") ?? false)
            #expect(playable.hls.startedAt == Timestamp(100))
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(room.egress == playable)

            let stopped = try await server.ask("POST", "\(Self.path)/stop")
            #expect(stopped.status == 202)
            #expect(stopped.text.contains(#""playback_hls_url":null"#) && stopped.text.contains("HLS_STOPPING"))
            #expect(try await server.ask("POST", "\(Self.path)/stop").refusal == "409/3055")
            #expect(try await server.ask("POST", "\(Self.path)/start").refusal == "409/3055")
            let token = try await server.tokens.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
            #expect(try await server.ask("POST", "\(Self.path)/start", as: .token(token)).refusal == "403/20106")
        }
    }

    @Test("A room that begins backstage goes live and back, and reports it")
    func backstage() async throws {
        try await ControlServer.run { (server) async throws in
            let room = try await server.makeRoom("show", #","backstage":true"#)
            #expect(room.backstage)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            let live = try await server.ask("POST", "/v1/rooms/show/go_live")
            #expect(try !live.decode(RoomResource.self).backstage)
            let received = try #require(await events.next())
            #expect(received.name == "room.updated" && received.data?.room?.backstage == false)
            let back = try await server.ask("POST", "/v1/rooms/show/stop_live").decode(RoomResource.self)
            #expect(back.backstage)
            let token = try await server.tokens.issue(
                identity: "ann",
                room: "show",
                mode: .sendAndReceive,
                expiresIn: 60
            )
            #expect(try await server.ask("POST", "/v1/rooms/show/go_live", as: .token(token)).refusal == "403/20106")
            client.close()
        }
    }
}
