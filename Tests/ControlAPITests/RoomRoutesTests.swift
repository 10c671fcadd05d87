import ControlAPI
import FootlightModel
import FootlightTesting
import Stage
import Synchronization
import Testing

@Suite("Room routes")
struct RoomRoutesTests {
    @Test("A room is created, read, listed and ended")
    func life() async throws {
        try await ControlServer.run { (server) async throws in
            let made = try await server.ask(
                "POST",
                "/v1/rooms",
                #"{"unique_name":"show","max_hosts":4,"program":{"width":640,"height":360,"fps":29.97,"preset":"faster"}}"#
            )
            #expect(made.status == 201)
            #expect(made.headers["content-type"] == "application/json; charset=utf-8")
            let room = try made.decode(RoomResource.self)
            #expect(room.uniqueName == "show" && room.status == "in-progress" && room.maxHosts == 4)
            #expect(room.program.width == 640 && room.program.fps == Rate("29.97") && room.program.preset == "faster")
            #expect(room.program.videoBitrate == 1000 && room.program.jitterTarget == 300)
            #expect(room.endTime == nil)
            #expect(
                room.counts == CountsResource(hosts: 0, audience: 0, anonymous: 0, signallingOnly: 0, participants: 0)
            )

            for reference in ["show", room.sid] {
                let read = try await server.ask("GET", "/v1/rooms/\(reference)").decode(RoomResource.self)
                #expect(read.sid == room.sid)
            }
            #expect(try await server.ask("GET", "/v1/rooms").decode(RoomList.self).rooms.map(\.sid) == [room.sid])

            let ended = try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#)
            #expect(ended.status == 200)
            let last = try ended.decode(RoomResource.self)
            #expect(last.status == "completed" && last.endTime != nil)
            #expect(try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#).refusal == "410/53118")
            let open = try await server.ask("GET", "/v1/rooms?status=in-progress").decode(RoomList.self)
            #expect(open.rooms.isEmpty)
            let closed = try await server.ask("GET", "/v1/rooms?status=completed").decode(RoomList.self)
            #expect(closed.rooms.count == 1)
            #expect(try await server.ask("GET", "/v1/rooms?status=odd").refusal == "400/3073")
            #expect(try await server.ask("GET", "/v1/rooms/show/layout").refusal == "404/53106")
        }
    }

    @Test("URLs contain the host of the request if it is valid")
    func addresses() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let plain = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(plain.playback.hlsURL.hasPrefix("http://127.0.0.1:"))
            #expect(plain.playback.hlsURL.hasSuffix("/live/show/index.m3u8"))
            #expect(plain.playback.rtmpURL == "rtmp://127.0.0.1:1935/live/show")
            #expect(plain.playback.flvURL.hasSuffix("/live/show.flv"))
            #expect(plain.links["layout"]?.hasSuffix("/v1/rooms/show/layout") ?? false)
        }
    }

    @Test("D36 a program without a video bitrate gets the default for its size and frame rate; so do its renditions")
    func usualRates() async throws {
        try await ControlServer.run { (server) async throws in
            for (size, rate) in [
                (#""width":1920,"height":1080"#, 5000), (#""width":1280,"height":720"#, 3000),
                (#""preset":"fast""#, 3000),
                (#""width":854,"height":480"#, 2000), (#""width":360,"height":640"#, 1000),
                (#""width":1920,"height":1080,"fps":60"#, 7500),
                (#""width":640,"height":360,"video_bitrate":800"#, 800),
            ] {
                let body = #"{"unique_name":"sized","program":{\#(size)}}"#
                let made = try await server.ask("POST", "/v1/rooms", body).decode(RoomResource.self)
                #expect(made.program.videoBitrate == rate, "\(size)")
                _ = try await server.ask("POST", "/v1/rooms/sized", #"{"status":"completed"}"#)
            }
            let ladder =
                #"[{"name":"480p","fps":30},{"name":"720p"},{"name":"tiny","width":320,"height":180,"fps":30}]"#
            let body = #"{"unique_name":"b","program":{"width":1920,"height":1080,"fps":60,"renditions":\#(ladder)}}"#
            let room = try await server.ask("POST", "/v1/rooms", body).decode(RoomResource.self)
            #expect(room.program.renditions?.map(\.videoBitrate) == [4500, 2000, 300])
        }
    }

    @Test("Every invalid field of a create request has its code and is named")
    func faults() async throws {
        try await ControlServer.run(settings: StageSettings(maximumRooms: 1)) { (server) async throws in
            for (body, refusal, words) in [
                ("", "400/53004", "not JSON"),
                ("{", "400/53004", "not JSON"),
                ("{}", "400/53004", "unique_name is missing"),
                (#"{"unique_name":7}"#, "400/53004", "unique_name must be text"),
                (#"{"unique_name":"a","max_hosts":"many"}"#, "400/53004", "max_hosts must be a whole number"),
                (#"{"unique_name":"a","program":{"width":"x"}}"#, "400/53004", "program.width"),
                (#"{"unique_name":""}"#, "400/53100", "invalid"),
                (#"{"unique_name":"\#(String(repeating: "a", count: 65))"}"#, "400/53101", "long"),
                (#"{"unique_name":"a b"}"#, "400/53102", "characters"),
                (#"{"unique_name":"a","max_participants":0}"#, "400/53107", "range"),
                (#"{"unique_name":"a","max_hosts":0}"#, "400/3073", "max_hosts"),
                (#"{"unique_name":"a","layout":{"type":"ROUND"}}"#, "400/3073", "layout.type"),
                (#"{"unique_name":"a","layout":{"grid_size":13}}"#, "400/3073", "layout.grid_size"),
                (#"{"unique_name":"a","layout":{"overlays":{"mic":1}}}"#, "400/53004", "layout.overlays.mic"),
                (#"{"unique_name":"a","program":{"width":641}}"#, "400/3073", "program.width must be even"),
                (#"{"unique_name":"a","program":{"preset":"placebo"}}"#, "400/3073", "program.preset must be one of"),
                (#"{"unique_name":"a","program":{"fps":61}}"#, "400/3073", "program.fps"),
                (#"{"unique_name":"a","program":{"video_bitrate":9}}"#, "400/3073", "program.video_bitrate"),
            ] {
                let answer = try await server.ask("POST", "/v1/rooms", body)
                #expect(answer.refusal == refusal, "\(body)")
                #expect(answer.error?.message.contains(words) ?? false, "\(answer.text) has \(words)")
                #expect(answer.error?.moreInfo.hasSuffix("/docs/errors/\(answer.error?.code ?? 0)") ?? false)
            }
            try await server.makeRoom("a")
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"a"}"#).refusal == "409/53113")
            let busy = try await server.ask("POST", "/v1/rooms", #"{"unique_name":"b"}"#)
            #expect(busy.refusal == "503/53006")
            #expect(busy.error?.retryable == true)
            #expect(busy.headers["retry-after"] == busy.error?.retryAfter.map { String($0) })
        }
    }

    @Test("A body over 64 KiB is refused, one just below is read")
    func largeBodies() async throws {
        try await ControlServer.run { (server) async throws in
            let padding = String(repeating: " ", count: 64 * 1024 - 30)
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"a"}"# + padding).status == 201)
            let large = try await server.ask("POST", "/v1/rooms", #"{"unique_name":"b"}"# + padding + padding)
            #expect(large.refusal == "413/53004")
        }
    }

    @Test("Unknown routes are refused with the usual error")
    func unknownRoutes() async throws {
        try await ControlServer.run { (server) async throws in
            for path in ["/v1/nothing", "/", "/v1/rooms/a/b/c", "/v2/rooms", "/docs/errors/1"] {
                #expect(try await server.ask("GET", path).refusal == "404/404", "\(path)")
            }
            for (method, path, allowed) in [
                ("DELETE", "/v1/rooms", "GET, HEAD, POST, OPTIONS"), ("PUT", "/v1/rooms/x", "GET, HEAD, POST, OPTIONS"),
                ("GET", "/v1/rooms/x/go_live", "POST, OPTIONS"), ("POST", "/livez", "GET, HEAD, OPTIONS"),
                ("GET", "/v1/rooms/x/participants/y/tracks/mic", "PUT, PATCH, DELETE, OPTIONS"),
                ("TRACE", "/v1/rooms", "GET, HEAD, POST, OPTIONS"),
                ("PROPFIND", "/v1/rooms", "GET, HEAD, POST, OPTIONS"),
                ("HEAD", "/v1/rooms/x/go_live", "POST, OPTIONS"), ("PUT", "/v1/cmcd", "POST, OPTIONS"),
            ] {
                let answer = try await server.ask(method, path)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(method == "HEAD" || answer.refusal == "405/405", "\(method) \(path)")
                #expect(answer.headers["allow"] == allowed, "\(method) \(path)")
            }
            #expect(try await server.ask("GET", "/v1/rooms/none").refusal == "404/53106")
            #expect(try await server.ask("GET", "/v1/rooms/%2E%2E").refusal == "404/53106")
        }
    }

    @Test("Health, readiness and metrics need no token; metrics are on the admin port only")
    func health() async throws {
        try await ControlServer.run { (server) async throws in
            #expect(try await server.ask("GET", "/livez", as: .unauthenticated).status == 200)
            let ready = try await server.ask("GET", "/readyz", as: .unauthenticated)
            #expect(ready.status == 200 && ready.text == #"{"ready":true,"reasons":[]}"#)
            #expect(try await server.ask("GET", "/metrics").refusal == "404/404")
            let metrics = try await server.ask("GET", "/metrics", as: .unauthenticated, admin: true)
            #expect(metrics.text == "footlight_rooms 1\n")
            #expect(metrics.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") ?? false)
            server.readiness.withLock {
                $0 = Readiness(reasons: [Readiness.Reason(name: "disk", problem: "no free space")])
            }
            let unready = try await server.ask("GET", "/readyz", as: .unauthenticated)
            #expect(unready.status == 503)
            #expect(unready.text == #"{"ready":false,"reasons":[{"name":"disk","problem":"no free space"}]}"#)
            #expect(try await server.ask("GET", "/readyz", as: .unauthenticated, admin: true).status == 503)
            #expect(try await server.ask("GET", "/livez", as: .unauthenticated, admin: true).status == 200)
        }
    }
}
