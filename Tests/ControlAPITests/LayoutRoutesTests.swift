import ControlAPI
import FootlightModel
import FootlightTesting
import Stage
import Testing

@Suite("Layout routes")
struct LayoutRoutesTests {
    private static let path = "/v1/rooms/show/layout"

    @Test("A partial change of the layout applies immediately, is reported, and is kept")
    func change() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom("show", #","layout":{"grid_size":4,"theme":"LIGHT"}"#)
            for identity in ["ann", "ben", "cas"] { _ = try await server.join("show", identity) }
            let before = try await server.ask("GET", Self.path).decode(LayoutResource.self)
            #expect(before.type == "GRID" && before.priority == "SPEAKER" && before.gridSize == 4)
            #expect(before.theme == "LIGHT" && before.scaleMode == "fill" && before.autoSwitchOnScreenShare)
            #expect(before.overlays == OverlaysResource(name: true, mic: true))
            #expect(before.orientation == "landscape" && before.tiles.count == 3)

            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            let change = #"{"type":"SIDEBAR","priority":"PIN","overlays":{"mic":false},"scale_mode":"fit"}"#
            let answer = try await server.ask("PUT", Self.path, change)
            #expect(answer.status == 200)
            let after = try answer.decode(LayoutResource.self)
            #expect(after.type == "SIDEBAR" && after.priority == "PIN" && after.scaleMode == "fit")
            #expect(after.overlays == OverlaysResource(name: true, mic: false))
            #expect(after.gridSize == 4 && after.theme == "LIGHT", "what is not named stays")
            #expect((after.tiles.first?.width ?? 0) > (after.tiles.last?.width ?? 0))
            let received = try #require(await events.next())
            #expect(received.name == "layout.changed" && received.data?.layout == after)
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(room.layout.type == "SIDEBAR" && room.layout.gridSize == 4)
            client.close()
        }
    }

    @Test("A scale mode applies to the large tile of a sidebar too, unless that has its own, and the answer tells both")
    func sidebar() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for number in 1...7 { _ = try await server.join("show", "host\(number)") }
            func put(_ body: String) async throws -> LayoutResource {
                try await server.ask("PUT", Self.path, body).decode(LayoutResource.self)
            }
            let usual = try await put(#"{"type":"SIDEBAR"}"#)
            #expect(usual.scaleMode == "fill" && usual.largeScaleMode == "fit" && usual.stripSize == 4)
            #expect(usual.tiles.map(\.scaleMode) == ["fit", "fill", "fill", "fill", "fill"])
            #expect(try await put(#"{"scale_mode":"fill","large_scale_mode":"fit"}"#) == usual, "as it was read")
            let filled = try await put(#"{"scale_mode":"fill","strip_size":6}"#)
            #expect(filled.scaleMode == "fill" && filled.largeScaleMode == "fill" && filled.stripSize == 6)
            #expect(filled.tiles.count == 7 && filled.tiles.allSatisfy { $0.scaleMode == "fill" })
            let fitted = try await put(#"{"large_scale_mode":"fit"}"#)
            #expect(fitted.scaleMode == "fill" && fitted.tiles.first?.scaleMode == "fit" && fitted.tiles.count == 7)
        }
    }

    @Test("Invalid values are refused naming the field, and change nothing")
    func faults() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let revision = try server.directory.room("show").revision
            for (body, refusal, words) in [
                (#"{"type":"ROUND"}"#, "400/3073", "type"), (#"{"priority":"X"}"#, "400/3073", "priority"),
                (#"{"theme":"PINK"}"#, "400/3073", "theme"), (#"{"scale_mode":"crop"}"#, "400/3073", "scale_mode"),
                (#"{"large_scale_mode":"crop"}"#, "400/3073", "large_scale_mode"),
                (#"{"strip_size":0}"#, "400/3073", "strip_size"), (#"{"strip_size":13}"#, "400/3073", "strip_size"),
                (#"{"orientation":"round"}"#, "400/3073", "orientation"),
                (#"{"grid_size":0}"#, "400/3073", "grid_size"), (#"{"grid_size":13}"#, "400/3073", "grid_size"),
                (#"{"grid_size":"4"}"#, "400/53004", "grid_size must be a whole number"),
                (#"{"overlays":{"name":"yes"}}"#, "400/53004", "overlays.name"), ("[]", "400/53004", ""),
            ] {
                let answer = try await server.ask("PUT", Self.path, body)
                #expect(answer.refusal == refusal, "\(body)")
                #expect(words.isEmpty || answer.error?.message.contains(words) ?? false, "\(answer.text)")
            }
            #expect(try server.directory.room("show").revision == revision)
        }
    }

    @Test("A preview returns the tiles for given hosts without changing the program")
    func preview() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            let revision = try server.directory.room("show").revision
            let hosts =
                #"[{"label":"One"},{"label":"Two","is_dominant_speaker":true},{"label":"Three","has_camera":false}]"#
            let body = #"{"layout":{"type":"SIDEBAR"},"hosts":\#(hosts)}"#
            let answer = try await server.ask("POST", "\(Self.path)/preview", body)
            #expect(answer.status == 200)
            let preview = try answer.decode(LayoutResource.self)
            #expect(preview.type == "SIDEBAR" && preview.tiles.count == 3)
            #expect(preview.tiles.first?.label == "Two", "the speaker is large")
            #expect(preview.tiles.first { $0.label == "Three" }?.source == "placeholder")
            let pinned =
                #"{"layout":{"type":"SIDEBAR","priority":"PIN"},"hosts":[{"label":"A"},{"label":"B","pin_type":"CAM"}]}"#
            let second = try await server.ask("POST", "\(Self.path)/preview", pinned).decode(LayoutResource.self)
            #expect(second.tiles.first?.label == "B")
            let own = try await server.ask("POST", "\(Self.path)/preview", "{}").decode(LayoutResource.self)
            #expect(own.tiles.map(\.label) == ["ann"] && own.type == "GRID")
            #expect(try server.directory.room("show").revision == revision)
            for (fault, words) in [
                (#"{"layout":{"type":"X"}}"#, "layout.type"),
                (#"{"hosts":[{"label":"a","pin_type":"X"}]}"#, "pin_type"),
                (#"{"hosts":[{"label":"a","sid":"x"},{"label":"b","sid":"x"}]}"#, "hosts"),
                (#"{"layout":{"grid_size":99}}"#, "grid_size"),
            ] {
                let refused = try await server.ask("POST", "\(Self.path)/preview", fault)
                #expect(refused.refusal == "400/3073" && refused.error?.message.contains(words) ?? false, "\(fault)")
            }
        }
    }

    @Test("The order of hosts is set, told by the room and its events, and refused by name")
    func hostOrder() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for identity in ["ann", "ben", "cas"] { _ = try await server.join("show", identity) }
            let before = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(before.hostOrder == nil)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            let path = "/v1/rooms/show/host_order"
            let answer = try await server.ask("PUT", path, #"{"identities":["cas","ann"]}"#)
            let order = ["cas", "ann", "ben"]
            #expect(try answer.decode(HostOrderResource.self).identities == order)
            let changed = try #require(await events.next())
            #expect(changed.name == "room.updated" && changed.data?.room?.hostOrder == order)
            let arranged = try #require(await events.next())
            #expect(arranged.name == "layout.changed" && arranged.data?.tiles?.map(\.label) == order)
            func listed(_ query: String) async throws -> ParticipantList {
                try await server.ask("GET", "/v1/rooms/show/participants?\(query)").decode(ParticipantList.self)
            }
            _ = try await server.join("show", "vic", "RECV_ONLY")
            _ = try await server.join("show", "dan")
            let everybody = try await listed("").participants.map(\.identity)
            #expect(everybody == order + ["vic", "dan"], "others keep their places")
            #expect(try await listed("mode=SEND_AND_RECV").participants.map(\.identity) == order + ["dan"])
            // Pages have everybody once.
            var paged: [String] = []
            var next: String? = ""
            while let token = next {
                let page = try await listed("page_size=2&page_token=\(token.replacing("=", with: "%3D"))")
                paged += page.participants.map(\.identity)
                next = page.meta.nextPageToken
            }
            #expect(paged == everybody)
            let fresh = try server.events("/v1/rooms/show/events")
            var first = fresh.events.makeAsyncIterator()
            #expect(await first.next()?.retry == "2000")
            #expect(await first.next()?.data?.participants?.map(\.identity) == everybody)
            fresh.close()
            let refused = try await server.ask("PUT", path, #"{"identities":["zoe"]}"#)
            #expect(refused.refusal == "400/3073" && refused.error?.message.contains("zoe") ?? false)
            let token = try await server.tokens.issue(
                identity: "ann",
                room: "show",
                mode: .sendAndReceive,
                expiresIn: 60
            )
            let forbidden = try await server.ask("PUT", path, #"{"identities":["ann"]}"#, as: .token(token))
            #expect(forbidden.refusal == "403/20106")
            client.close()
        }
    }

    @Test("Only those who run the show change the layout; every participant reads it")
    func access() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let token = try await server.tokens.issue(
                identity: "ann",
                room: "show",
                mode: .sendAndReceive,
                expiresIn: 60
            )
            #expect(try await server.ask("GET", Self.path, as: .token(token)).status == 200)
            #expect(try await server.ask("POST", "\(Self.path)/preview", "{}", as: .token(token)).status == 200)
            let change = #"{"type":"SPOTLIGHT"}"#
            #expect(try await server.ask("PUT", Self.path, change, as: .token(token)).refusal == "403/20106")
        }
    }
}
