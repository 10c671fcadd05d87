import FootlightModel
import FootlightTesting
import Foundation
import Shows
import Stage
import Synchronization
import TestSupport
import Testing

@testable import ControlAPI

@Suite("Routes for shows and episodes")
struct ShowRoutesTests {
    private static let show = """
        {"name":"weekly","title":"The weekly","description":"News of the week","time_zone":"Europe/Berlin",\
        "schedule":{"weekdays":["friday"],"time":"19:00"},"recording":true,\
        "seats":[{"identity":"ann","display_name":"Ann"},{"identity":"bo"}],\
        "outputs":[{"url":"rtmp://platform.example/live","stream_key":"platform-secret"}],\
        "room":{"max_hosts":4,"layout":{"type":"SIDEBAR"},"program":{"width":640,"height":360}}}
        """

    @Test("a show is made, planned, opened, goes live and ends; its keys stay, and can be shown again")
    func wholeShow() async throws {
        try await ControlServer.run { (server) async throws in
            let answer = try await server.ask("POST", "/v1/shows", Self.show)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(!answer.text.contains("platform-secret"))
            let show = try answer.decode(ShowResource.self)
            #expect(show.title == "The weekly" && show.state == .upcoming && show.seats.count == 2)
            #expect(show.next?.state == .planned && show.current == nil && show.last == nil)
            #expect(show.room.layout.type == .sidebar && show.room.program.width == 640)
            #expect(show.url.hasSuffix("/watch/weekly") && show.playback.rtmpURL.hasSuffix("/live/weekly"))
            let key = try #require(show.seats.first?.ingest.rtmp.streamKey)
            #expect(key.hasPrefix("sk_"))
            let seat = try await server.ask("GET", "/v1/shows/weekly/seats/ann").decode(SeatResource.self)
            #expect(seat.ingest.rtmp.streamKey == key && seat.displayName == "Ann")

            // Nobody else makes a room of the name, before or during an episode.
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"weekly"}"#).refusal == "409/53113")

            let path = "/v1/shows/weekly/episodes/current"
            let open = try await server.ask("POST", "\(path)/open").decode(EpisodeResource.self)
            #expect(open.state == .backstage && open.id == show.next?.id)
            let sid = try #require(open.roomSID)
            #expect(try server.directory.room("weekly").sid == sid && server.directory.room("weekly").isBackstage)
            let room = try server.directory.room(sid).settings
            #expect(room.maximumHosts == 4 && room.layout.kind == .sidebar && room.program.height == 360)
            #expect(server.persisted.withLock { $0.contains(sid) })
            #expect(server.startedRooms.names.withLock { $0.isEmpty })

            let live = try await server.ask("POST", "\(path)/go_live").decode(EpisodeResource.self)
            #expect(live.state == .live && live.wentLiveAt != nil)
            #expect(server.startedRooms.names.withLock { $0 } == ["weekly platform-secret", "weekly"])
            let status = try await server.ask("GET", "/v1/shows/weekly/status", as: .unauthenticated)
            #expect(try status.decode(ShowStatusResource.self).state == .live)
            #expect(!status.text.contains("sk_") && status.headers["access-control-allow-origin"] == "*")

            #expect(try await server.ask("DELETE", "/v1/shows/weekly").refusal == "409/53423")
            let end = try await server.ask("POST", "\(path)/end").decode(EpisodeResource.self)
            #expect(end.state == .ended && end.endReason == .ended)
            #expect(end.links["recordings"]?.hasSuffix("/v1/rooms/\(sid)/recordings") ?? false)
            #expect(try await server.ask("POST", "/v1/shows/weekly/episodes/\(end.id)/go_live").refusal == "409/53422")

            // The schedule has planned the next one.
            let later = try await server.ask("GET", "/v1/shows/weekly").decode(ShowResource.self)
            #expect(later.last?.id == end.id && later.next?.number == 2 && later.state == .upcoming)
            #expect(later.seats.first?.ingest.rtmp.streamKey == key)
            let week = try #require(later.next?.plannedAt).seconds - (try #require(show.next?.plannedAt).seconds)
            #expect(abs(week - 7 * 86_400) <= 3600)

            #expect(try await server.ask("DELETE", "/v1/shows/weekly").status == 204)
            #expect(try await server.ask("GET", "/v1/shows/weekly").refusal == "404/53420")
            #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"weekly"}"#).status == 201)
        }
    }

    @Test("a show is changed field by field, and null removes")
    func changes() async throws {
        try await ControlServer.run { (server) async throws in
            _ = try await server.ask("POST", "/v1/shows", Self.show)
            let change = #"{"title":"Sundays","schedule":{"weekdays":["sunday"],"time":"08:30"},"outputs":[]}"#
            let changed = try await server.ask("PATCH", "/v1/shows/weekly", change).decode(ShowResource.self)
            #expect(changed.title == "Sundays" && changed.description == "News of the week" && changed.outputs.isEmpty)
            #expect(changed.room.layout.type == .sidebar && changed.schedule?.time == "08:30")
            let planned = try #require(changed.next?.plannedAt)
            #expect(planned.text.contains(":30:00"))
            let none = try await server.ask("PATCH", "/v1/shows/weekly", #"{"schedule":null}"#).decode(
                ShowResource.self
            )
            #expect(none.schedule == nil && none.next == nil)

            let date = Timestamp((Date().timeIntervalSince1970 + 86_400).rounded())
            let body = #"{"title":"Special","planned_at":"\#(date.text)"}"#
            let special = try await server.ask("POST", "/v1/shows/weekly/episodes", body).decode(EpisodeResource.self)
            #expect(special.plannedAt == date)
            let path = "/v1/shows/weekly/episodes/\(special.id)"
            let open = try await server.ask("PATCH", path, #"{"planned_at":null}"#).decode(EpisodeResource.self)
            #expect(open.plannedAt == nil && open.title == "Special")
            #expect(try await server.ask("DELETE", path).status == 204)
            #expect(try await server.ask("GET", path).refusal == "404/53421")

            let old = try await server.ask("GET", "/v1/shows/weekly/seats/bo").decode(SeatResource.self)
            let new = try await server.ask("POST", "/v1/shows/weekly/seats/bo/key").decode(SeatResource.self)
            #expect(new.ingest.rtmp.streamKey != old.ingest.rtmp.streamKey)
            #expect(
                try await server.ask("POST", "/v1/shows/weekly/seats", #"{"identity":"bo"}"#).refusal == "409/53428"
            )
            #expect(try await server.ask("POST", "/v1/shows/weekly/seats", #"{"identity":"cy"}"#).status == 201)
            #expect(try await server.ask("DELETE", "/v1/shows/weekly/seats/cy").status == 204)
            #expect(try await server.ask("DELETE", "/v1/shows/weekly/seats/cy").refusal == "404/53427")
        }
    }

    @Test("the seat of a removed host says who removed it, until the removal is lifted")
    func removal() async throws {
        try await ControlServer.run { (server) async throws in
            _ = try await server.ask("POST", "/v1/shows", Self.show)
            _ = try await server.ask("POST", "/v1/shows/weekly/episodes/current/open")
            let path = "/v1/shows/weekly/seats/bo"
            func removal() async throws -> RemovalResource? {
                try await server.ask("GET", path).decode(SeatResource.self).removal
            }
            let key = try server.shows.show("weekly").seat("bo").streamKey
            _ = try server.shows.authorizePublish(streamKey: key).get()
            #expect(try await removal() == nil)
            #expect(try await server.ask("DELETE", "/v1/rooms/weekly/participants/bo").status == 204)
            let found = try #require(try await removal())
            #expect(found.by == "operator" && found.at != nil)
            let show = try await server.ask("GET", "/v1/shows/weekly").decode(ShowResource.self)
            #expect(show.seats.map { $0.removal != nil } == [false, true])
            #expect(throws: PublishRefusal.closed(.participantRemoved)) {
                try server.shows.authorizePublish(streamKey: key).get()
            }
            #expect(try await server.ask("DELETE", "\(path)/removal", as: .unauthenticated).status == 401)
            #expect(try await server.ask("DELETE", "\(path)/removal").status == 204)
            #expect(try await removal() == nil)
            _ = try server.shows.authorizePublish(streamKey: key).get()
            #expect(try await server.ask("DELETE", "/v1/shows/weekly/seats/cy/removal").refusal == "404/53427")
        }
    }

    @Test("outputs are saved one by one, each instead of the one of its name")
    func outputs() async throws {
        try await ControlServer.run { (server) async throws in
            _ = try await server.ask("POST", "/v1/shows", #"{"name":"weekly"}"#)
            let path = "/v1/shows/weekly/outputs"
            for (name, key) in [("one", "k1"), ("two", "k2"), ("one", "k3")] {
                let body = #"{"name":"\#(name)","url":"rtmp://a.example/live","stream_key":"\#(key)"}"#
                let answer = try await server.ask("POST", path, body)
                #expect(answer.status == 201 && !answer.text.contains(key), "\(answer.text)")
            }
            let targets = try #require(try server.shows.show("weekly").settings.outputs?.targets)
            #expect(targets.map(\.name) == ["two", "one"] && targets.map(\.streamKey) == ["k2", "k3"])
            #expect(try await server.ask("DELETE", "\(path)/two").status == 200)
            #expect(try await server.ask("DELETE", "\(path)/two").refusal == "409/4014")
            let monitor = try await server.tokens.issue(
                AccessClaims(identity: "m", role: .monitor, expiresAt: Date().timeIntervalSince1970 + 60)
            )
            let seen = try await server.ask("GET", "/v1/shows/weekly", as: .token(monitor)).decode(ShowResource.self)
            #expect(seen.outputs.isEmpty)
        }
    }

    @Test("a program keeps the renditions that saved outputs push")
    func renditions() async throws {
        try await ControlServer.run { (server) async throws in
            let show = #"{"name":"weekly","room":{"program":{"renditions":[{"name":"360p"}]}}}"#
            #expect(try await server.ask("POST", "/v1/shows", show).status == 201)
            let output = #"{"name":"one","url":"rtmp://a.example/live","stream_key":"k","rendition":"360p"}"#
            #expect(try await server.ask("POST", "/v1/shows/weekly/outputs", output).status == 201)
            let smaller = #"{"room":{"program":{"width":640,"height":360}}}"#
            let answer = try await server.ask("PATCH", "/v1/shows/weekly", smaller)
            #expect(answer.refusal == "400/3073" && answer.text.contains("which the output one pushes"))
            #expect(try server.shows.show("weekly").settings.room.program.width == 1280)
            _ = try await server.ask("DELETE", "/v1/shows/weekly/outputs/one")
            #expect(try await server.ask("PATCH", "/v1/shows/weekly", smaller).status == 200)
        }
    }

    @Test("a scene is taken in one step, the slates stay, and the episode knows when")
    func scenes() async throws {
        try await ControlServer.run { (server) async throws in
            _ = try await server.ask("POST", "/v1/shows", Self.show)
            let take = "/v1/shows/weekly/scenes/Big%20guest/take"
            #expect(try await server.ask("POST", take).refusal == "404/53432")
            let change = """
                {"scenes":[{"name":"Opening","layout":{"type":"GRID","grid_size":2}},\
                {"name":"Big guest","layout":{"type":"SPOTLIGHT","lower_third":{"title":"Ann Lee"},"ticker":{"text":"News"}}}],\
                "room":{"layout":{"slates":{"be_right_back":{"text":"A break"}}}}}
                """
            let show = try await server.ask("PATCH", "/v1/shows/weekly", change).decode(ShowResource.self)
            #expect(show.scenes.map(\.name) == ["Opening", "Big guest"])
            #expect(show.scenes[1].layout.type == .spotlight && show.scenes[1].layout.lowerThird?.title == "Ann Lee")
            #expect(try await server.ask("POST", take).refusal == "404/53421")

            _ = try await server.ask("POST", "/v1/shows/weekly/episodes/current/go_live")
            let layout = try await server.ask("POST", take).decode(LayoutResource.self)
            #expect(layout.settings.type == .spotlight && layout.settings.ticker?.text == "News")
            #expect(layout.settings.slates.beRightBack?.text == "A break")
            #expect(try server.directory.layout(room: "weekly").settings.kind == .spotlight)
            let grid = try await server.ask("POST", "/v1/shows/weekly/scenes/Opening/take").decode(LayoutResource.self)
            #expect(grid.settings.type == .grid && grid.settings.gridSize == 2)
            #expect(grid.settings.lowerThird == nil && grid.settings.slates.beRightBack?.text == "A break")
            let moments = try await server.ask("GET", "/v1/shows/weekly/episodes/current/moments")
            let scenes = try moments.decode(EpisodeMomentList.self).moments.filter { $0.kind == .known(.sceneTaken) }
            #expect(scenes.map(\.name) == ["Big guest", "Opening"])

            // The answer's scenes are those of a request.
            let again = try JSONValue(parsing: try await server.ask("GET", "/v1/shows/weekly").text)["scenes"]
            let same = try await server.ask("PATCH", "/v1/shows/weekly", #"{"scenes":\#(again.text)}"#)
            #expect(try same.decode(ShowResource.self).scenes == show.scenes)
            for wrong in [
                #"[{"name":"","layout":{}}]"#, #"[{"name":"a","layout":{"grid_size":99}}]"#,
                #"[{"name":"a","layout":{}},{"name":"a","layout":{}}]"#,
                "[" + (0...50).map { #"{"name":"\#($0)","layout":{}}"# }.joined(separator: ",") + "]",
                #"[{"name":"a","layout":{"logo":{"image":"asset:missing"}}}]"#,
            ] {
                let answer = try await server.ask("PATCH", "/v1/shows/weekly", #"{"scenes":\#(wrong)}"#)
                #expect(
                    answer.refusal == "400/3073" && answer.error?.message.contains("scenes") ?? false,
                    "\(answer.text)"
                )
            }
            let none = try await server.ask("PATCH", "/v1/shows/weekly", #"{"scenes":[]}"#).decode(ShowResource.self)
            #expect(none.scenes.isEmpty)
        }
    }

    @Test("a copy has the settings and the seats, with other keys")
    func copy() async throws {
        try await ControlServer.run { (server) async throws in
            let show = try await server.ask("POST", "/v1/shows", Self.show).decode(ShowResource.self)
            let answer = try await server.ask("POST", "/v1/shows/weekly/copy", #"{"name":"other","title":"Other"}"#)
            let copy = try answer.decode(ShowResource.self)
            #expect(copy.title == "Other" && copy.room == show.room && copy.outputs == show.outputs)
            #expect(copy.seats.map(\.identity) == ["ann", "bo"])
            #expect(
                Set(copy.seats.map(\.ingest.rtmp.streamKey)).isDisjoint(with: show.seats.map(\.ingest.rtmp.streamKey))
            )
            #expect(
                try await server.ask("GET", "/v1/shows").decode(ShowList.self).shows.map(\.name) == ["other", "weekly"]
            )
        }
    }

    @Test(
        "a template sets layout, sound and slates, and what the request says comes after",
        arguments: ShowTemplate.allCases
    )
    func templates(template: ShowTemplate) async throws {
        try await ControlServer.run { (server) async throws in
            let body = #"{"name":"made","room":{"max_hosts":7}}"#
            let answer = try await server.ask("POST", "/v1/shows?template=\(template.rawValue)", body)
            let show = try answer.decode(ShowResource.self)
            #expect(show.room.maxHosts == 7)
            #expect(show.room.sound.levelling == (template != .music))
            #expect(show.room.layout.slates.startingSoon?.text == "The show begins soon")
            _ = try await server.ask("POST", "/v1/shows/made/episodes")
            #expect(try await server.ask("POST", "/v1/shows/made/episodes/current/open").status == 200)
        }
    }

    @Test(
        "refuses what cannot be, naming the field, and makes nothing",
        arguments: [
            (#"{"title":"x"}"#, "400/3073", "name"),
            (#"{"name":"a b"}"#, "400/53102", ""),
            (#"{"name":"x","time_zone":"Moon/Sea"}"#, "400/3073", "time_zone"),
            (#"{"name":"x","schedule":{"weekdays":[],"time":"19:00"}}"#, "400/3073", "schedule.weekdays"),
            (#"{"name":"x","schedule":{"weekdays":["friday"],"time":"7pm"}}"#, "400/3073", "schedule.time"),
            (#"{"name":"x","schedule":{"weekdays":["freitag"],"time":"19:00"}}"#, "400/3073", "schedule.weekdays"),
            (#"{"name":"x","opens_before":-1}"#, "400/3073", "opens_before"),
            (#"{"name":"x","idle_timeout":5}"#, "400/3073", "idle_timeout"),
            (#"{"name":"x","poster":"a/b"}"#, "400/3073", "poster"),
            (#"{"name":"x","seats":[{"identity":"ann"},{"identity":"ann"}]}"#, "409/53428", ""),
            (#"{"name":"x","room":{"layout":{"type":"HEAP"}}}"#, "400/3073", "room.layout.type"),
            (#"{"name":"x","room":{"max_hosts":99}}"#, "400/3073", "max_hosts"),
            (
                #"{"name":"x","outputs":[{"url":"rtmp://a.example/x","stream_key":"k","rendition":"9p"}]}"#, "400/3073",
                "rendition"
            ),
        ]
    )
    func invalid(body: String, refusal: String, field: String) async throws {
        try await ControlServer.run { (server) async throws in
            let answer = try await server.ask("POST", "/v1/shows", body)
            #expect(answer.refusal == refusal, "\(answer.text)")
            #expect(answer.error?.message.contains(field) ?? false || field.isEmpty, "\(answer.text)")
            #expect(server.shows.shows.isEmpty)
            // The name is free.
            #expect(try await server.ask("POST", "/v1/shows", #"{"name":"x"}"#).status == 201)
        }
    }

    @Test("a show's files serve every episode, and its poster everyone")
    func files() async throws {
        try await ControlServer.run { (server) async throws in
            _ = try await server.ask("POST", "/v1/shows", Self.show)
            let image: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
            let stored = try await server.upload("/v1/shows/weekly/assets/cover", image, type: "image/png")
            #expect(stored.status == 200, "\(stored.text)")
            #expect(try await server.ask("GET", "/v1/shows/weekly/poster", as: .unauthenticated).status == 404)
            #expect(try await server.ask("PATCH", "/v1/shows/weekly", #"{"poster":"cover"}"#).status == 200)
            let poster = try await server.ask("GET", "/v1/shows/weekly/poster", as: .unauthenticated)
            #expect(poster.status == 200 && poster.headers["content-type"] == "image/png")
            let status = try await server.ask("GET", "/v1/shows/weekly/status", as: .unauthenticated)
            #expect(try status.decode(ShowStatusResource.self).posterURL?.hasSuffix("/v1/shows/weekly/poster") ?? false)
            _ = try await server.ask("POST", "/v1/shows/weekly/episodes/current/open")
            #expect(try await server.ask("GET", "/v1/rooms/weekly/assets/cover").status == 200)
            #expect(try await server.ask("GET", "/v1/rooms/weekly/assets/other").status == 404)
            let list = try await server.ask("GET", "/v1/shows/weekly/assets").decode(AssetList.self)
            #expect(list.assets.map(\.name) == ["cover"])
            for body in [
                #"{"poster":"other"}"#, #"{"room":{"layout":{"logo":{"image":"asset:other"}}}}"#,
                #"{"room":{"layout":{"slates":{"ended":{"music":"asset:other"}}}}}"#,
            ] {
                let answer = try await server.ask("PATCH", "/v1/shows/weekly", body)
                #expect(answer.refusal == "400/3073" && answer.text.contains("has not been uploaded"), "\(answer.text)")
            }
            // A copy has the files too, and keeps them.
            let copy = try await server.ask("POST", "/v1/shows/weekly/copy", #"{"name":"other"}"#)
            #expect(try copy.decode(ShowResource.self).poster == "cover")
            #expect(try await server.ask("DELETE", "/v1/shows/weekly/assets/cover").status == 204)
            #expect(try await server.ask("GET", "/v1/rooms/weekly/assets/cover").status == 404)
            #expect(try await server.ask("GET", "/v1/shows/other/assets/cover").status == 200)
        }
    }

    @Test("only operators see keys and change shows")
    func rights() async throws {
        try await ControlServer.run { (server) async throws in
            _ = try await server.ask("POST", "/v1/shows", Self.show)
            let monitor = try await server.tokens.issue(
                AccessClaims(identity: "m", role: .monitor, expiresAt: Date().timeIntervalSince1970 + 60)
            )
            let seen = try await server.ask("GET", "/v1/shows/weekly", as: .token(monitor))
            #expect(seen.status == 200 && !seen.text.contains("sk_"))
            let participant = try await server.tokens.issue(identity: "p", room: "weekly", expiresIn: 60)
            for (method, path) in [
                ("GET", "/v1/shows"), ("POST", "/v1/shows"), ("PATCH", "/v1/shows/weekly"),
                ("DELETE", "/v1/shows/weekly"),
                ("GET", "/v1/shows/weekly/seats/ann"), ("POST", "/v1/shows/weekly/seats/ann/key"),
                ("POST", "/v1/shows/weekly/episodes"), ("POST", "/v1/shows/weekly/episodes/current/go_live"),
                ("POST", "/v1/shows/weekly/episodes/current/end"), ("GET", "/v1/shows/weekly/assets"),
            ] {
                let body = method == "GET" ? nil : "{}"
                let answer = try await server.ask(method, path, body, as: .token(participant))
                #expect(answer.refusal == "403/20106", "\(method) \(path)")
                #expect(try await server.ask(method, path, body, as: .unauthenticated).refusal == "401/20101")
            }
        }
    }
}
