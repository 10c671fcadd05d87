import FootlightModel
import FootlightTesting
import Stage
import Testing

@testable import ControlAPI

@Suite("Background, logo, lower third, ticker and slate routes")
struct DecorationRoutesTests {
    private static let path = "/v1/rooms/show/layout"
    private static let full =
        ##"{"transition_ms":0,"background":{"colour":"#0A10fF"},"##
        + #""logo":{"image":"asset:logo","position":"bottom_left","opacity":0.5,"height":0.25},"#
        + #""lower_third":{"title":"Ann","subtitle":"Host"},"ticker":{"text":"Now","speed":0.2},"#
        + #""slates":{"starting_soon":{"text":"At eight","image":"asset:wall","music":"https://a.example/a.mp3"}}}"#

    @Test("Every field is set, read, reported, changed in part, and cleared by null")
    func change() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let image: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
            for name in ["logo", "wall"] {
                _ = try await server.upload("/v1/rooms/show/assets/\(name)", image, type: "image/png")
            }
            let plain = try await server.ask("GET", Self.path).decode(LayoutResource.self)
            #expect(plain.transitionMS == 300 && plain.background == nil && plain.logo == nil)
            #expect(plain.lowerThird == nil && plain.ticker == nil && plain.slates == SlatesResource())
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()

            let full = try await server.ask("PUT", Self.path, Self.full).decode(LayoutResource.self)
            #expect(full.transitionMS == 0 && full.background == BackgroundResource(colour: "#0a10ff"))
            let logo = LogoResource(image: "asset:logo", position: "bottom_left", opacity: 0.5, height: 0.25)
            #expect(full.logo == logo && full.lowerThird == LowerThirdResource(title: "Ann", subtitle: "Host"))
            #expect(full.ticker == TickerResource(text: "Now", speed: 0.2))
            let slate = SlateResource(text: "At eight", image: "asset:wall", music: "https://a.example/a.mp3")
            #expect(full.slates == SlatesResource(startingSoon: slate))
            let received = try #require(await events.next())
            #expect(received.name == "layout.changed" && received.data?.layout == full)
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(room.layout == full.settings)

            let part = #"{"logo":null,"slates":{"ended":{"text":"Bye"}},"background":{"image":"asset:wall"}}"#
            let less = try await server.ask("PUT", Self.path, part).decode(LayoutResource.self)
            #expect(less.logo == nil && less.ticker == full.ticker && less.transitionMS == 0)
            #expect(less.background == BackgroundResource(image: "asset:wall"))
            #expect(less.slates == SlatesResource(startingSoon: slate, ended: SlateResource(text: "Bye")))
            let usual = #"{"logo":{"image":"asset:logo"},"ticker":{"text":"Then"},"slates":{"starting_soon":null}}"#
            let again = try await server.ask("PUT", Self.path, usual).decode(LayoutResource.self)
            #expect(
                again.logo == LogoResource(image: "asset:logo", position: "top_right", opacity: 1, height: 0.1)
            )
            #expect(again.ticker?.speed == 0.1 && again.slates == SlatesResource(ended: SlateResource(text: "Bye")))
            let none =
                #"{"transition_ms":null,"background":null,"logo":null,"lower_third":null,"ticker":null,"slates":null}"#
            #expect(try await server.ask("PUT", Self.path, none).decode(LayoutResource.self) == plain)
            client.close()
        }
    }

    @Test("An invalid range, value, colour or asset is refused naming the field, and changes nothing")
    func faults() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let revision = try server.directory.room("show").revision
            let long = String(repeating: "x", count: 501)
            for (body, code, words) in [
                (#"{"transition_ms":2001}"#, 3073, "transition_ms must be between 0 and 2000"),
                (#"{"transition_ms":"1"}"#, 53004, "transition_ms must be a whole number"),
                (#"{"background":{}}"#, 3073, "background must"),
                (##"{"background":{"colour":"#123456","image":"asset:a"}}"##, 3073, "background must"),
                (##"{"background":{"colour":"#12345"}}"##, 3073, "background.colour must"),
                (##"{"background":{"colour":"#+12345"}}"##, 3073, "background.colour must"),
                (#"{"background":{"image":"file:///etc/passwd"}}"#, 3073, "background.image must"),
                (#"{"logo":{}}"#, 53004, "logo.image is missing"),
                (#"{"logo":{"image":"asset:a","position":"middle"}}"#, 3073, "logo.position must"),
                (#"{"logo":{"image":"asset:a","opacity":2}}"#, 3073, "logo.opacity must be between 0 and 1"),
                (#"{"logo":{"image":"asset:a","height":0.6}}"#, 3073, "logo.height must be between 0.02 and 0.5"),
                (#"{"lower_third":{"title":"\#(long)"}}"#, 3073, "lower_third.title must"),
                (#"{"ticker":{"text":7}}"#, 53004, "ticker.text must be text"),
                (#"{"ticker":{"text":"a","speed":0}}"#, 3073, "ticker.speed must be between 0.01 and 1"),
                (#"{"slates":{"ended":{"music":"tune.mp3"}}}"#, 3073, "slates.ended.music must"),
                (#"{"logo":{"image":"asset:a.png"}}"#, 3073, "logo.image names the file a.png"),
                (#"{"slates":{"ended":{"music":"asset:a"}}}"#, 3073, "slates.ended.music names the file a"),
                (#"{"logo":{"image":"asset:a","colour":"red"}}"#, 3073, "logo.colour is no field"),
                (#"{"lower_thrid":{"title":"a"}}"#, 3073, "lower_thrid is no field"),
                (#"{"slates":{"be_right_back":{"text":"\#(long)"}}}"#, 3073, "slates.be_right_back.text must"),
            ] {
                let answer = try await server.ask("PUT", Self.path, body)
                #expect(answer.refusal == "400/\(code)", "\(body)")
                #expect(answer.error?.message.contains(words) == true, "\(answer.text)")
            }
            #expect(try server.directory.room("show").revision == revision)
            let made = try await server.ask(
                "POST",
                "/v1/rooms",
                #"{"unique_name":"b","layout":{"logo":{"image":"x"}}}"#
            )
            #expect(made.refusal == "400/3073" && made.error?.message.hasPrefix("layout.logo.image") == true)
        }
    }

    @Test("An avatar is set by the join, returned in tile and participant, and cleared by null")
    func avatar() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let path = "/v1/rooms/show/participants"
            let body = #"{"identity":"ann","mode":"SEND_AND_RECV","avatar":"asset:ann"}"#
            let joined = try await server.ask("POST", path, body).decode(JoinAnswer.self)
            #expect(joined.participant.avatar == "asset:ann" && joined.tiles.first?.avatar == "asset:ann")
            let other = #"{"avatar":"https://a.example/ann.png"}"#
            let changed = try await server.ask("PATCH", "\(path)/ann", other).decode(ParticipantResource.self)
            #expect(changed.avatar == "https://a.example/ann.png")
            let named = try await server.ask("PATCH", "\(path)/ann", #"{"display_name":"Ann"}"#)
            #expect(try named.decode(ParticipantResource.self).avatar == changed.avatar)
            let gone = try await server.ask("PATCH", "\(path)/ann", #"{"avatar":null}"#)
            #expect(try gone.decode(ParticipantResource.self).avatar == nil)
            #expect(try server.directory.layout(room: "show").tiles.first?.avatar == nil)
            for wrong in [#"{"avatar":"ann.png"}"#, #"{"avatar":"asset:"}"#] {
                let answer = try await server.ask("PATCH", "\(path)/ann", wrong)
                #expect(answer.refusal == "400/3073" && answer.error?.message.hasPrefix("avatar must") == true)
            }
            let join = #"{"identity":"ben","mode":"RECV_ONLY","avatar":"x"}"#
            #expect(try await server.ask("POST", path, join).refusal == "400/3073")
        }
    }
}
