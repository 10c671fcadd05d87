@testable import Gateway
import GatewayModel
import Mixer
import Stage
import Testing

@Suite("What a room's events make of the program")
struct FollowedSceneTests {
    private func tile(_ sid: String, avatar: String? = nil, inStrip: Bool = false) -> TileResource {
        TileResource(
            position: 0,
            participantSID: sid,
            source: "camera",
            x: 0,
            y: 0,
            width: 640,
            height: 360,
            scaleMode: "fill",
            label: "Label",
            micOn: true,
            avatar: avatar,
            inStrip: inStrip
        )
    }

    private func snapshot(
        _ hosts: [ParticipantResource],
        _ tiles: [TileResource],
        _ change: (inout LayoutSettingsResource) -> Void = { _ in }
    ) -> FollowedRoom {
        var settings = LayoutSettingsResource(type: "GRID", gridSize: 12, orientation: "landscape")
        change(&settings)
        var event = EventResource(
            type: StageEvent.Name.roomSnapshot.rawValue,
            roomSID: "RM1",
            rev: 1,
            ts: Timestamp(0),
            participants: hosts
        )
        event.layout = LayoutResource(settings: settings, width: 1280, height: 720, tiles: tiles)
        var room = FollowedRoom()
        room.apply(event)
        return room
    }

    @Test("Colours, images, titles and the time of a change are those of the layout")
    func decoration() {
        let room = snapshot([.connected("PA1", tracks: [.playing(.camera)])], [tile("PA1")]) { settings in
            settings.transitionMS = 0
            settings.theme = "LIGHT"
            settings.background = BackgroundResource(colour: "#102030")
            settings.logo = LogoResource(image: "asset:logo", position: "bottom_left", opacity: 0.5, height: nil)
            settings.lowerThird = LowerThirdResource(title: "Ada", subtitle: nil)
            settings.ticker = TickerResource(text: "News", speed: nil)
            settings.overlays = OverlaysResource(name: false, mic: true)
        }
        let scene = room.scene
        #expect(scene.transition == 0)
        #expect(scene.colours.background != SceneColours.light.background)
        #expect(scene.colours.emptyTile == SceneColours.light.emptyTile)
        #expect(scene.decoration.logo == Logo(asset: "asset:logo", corner: .bottomLeft, opacity: 0.5, height: 0.1))
        #expect(scene.decoration.lowerThird == LowerThird(title: "Ada"))
        #expect(scene.decoration.ticker == Ticker(text: "News", speed: 0.1))
        #expect(!scene.decoration.showsNames && scene.decoration.showsMicrophones)
        #expect(scene.slate == nil)
    }

    @Test("Without a tile there is a slate: starting soon before anybody was on air, with the layout's words")
    func slates() {
        let room = snapshot([], []) { settings in
            settings.slates.startingSoon = SlateResource(text: "At eight", image: "asset:door", music: "asset:tune")
        }
        #expect(
            room.scene.slate
                == Slate(kind: .startingSoon, text: "At eight", image: "asset:door", music: "asset:tune")
        )
        #expect(room.scene.tiles.isEmpty)
        let (door, tune) = (WantedAsset(id: "asset:door", version: nil), "asset:tune")
        #expect(room.assets == [door, WantedAsset(id: tune, version: nil, kind: .sound)])
    }

    @Test("When everybody who was seen has left the program will be right back, though no event of the room said so")
    func wasOnAir() {
        var silent = ParticipantResource.connected("PA1", tracks: [])
        (silent.isMicOn, silent.isCameraOn) = (false, false)
        var room = snapshot([silent], [])
        #expect(room.scene.slate?.kind == .startingSoon)
        func event(_ name: StageEvent.Name, _ host: ParticipantResource?, _ tiles: [TileResource]?) -> EventResource {
            EventResource(
                type: name.rawValue,
                roomSID: "RM1",
                rev: 2,
                ts: Timestamp(0),
                tiles: tiles,
                participant: host
            )
        }
        room.apply(event(.trackSubscribed, .connected("PA1", tracks: [.playing(.camera)]), nil))
        room.apply(event(.layoutChanged, nil, [tile("PA1")]))
        #expect(room.scene.slate == nil)
        room.apply(event(.participantLeft, .connected("PA1", tracks: []), nil))
        room.apply(event(.layoutChanged, nil, []))
        #expect(room.scene.slate?.kind == .beRightBack)
    }

    @Test("What stands in for the tiles when time is short says what the room's own break says")
    func standIn() {
        let tiles = [tile("PA1")]
        #expect(snapshot([.connected("PA1", tracks: [.playing(.camera)])], tiles).scene.standIn == nil)
        let room = snapshot([.connected("PA1", tracks: [.playing(.camera)])], tiles) { settings in
            settings.slates.beRightBack = SlateResource(
                text: "Technical break",
                image: "asset:break",
                music: "asset:song"
            )
        }
        let own = Slate(kind: .beRightBack, text: "Technical break", image: "asset:break")
        #expect(room.scene.standIn == own && room.scene.slate == nil)
    }

    @Test("T6 A camera or screen that is not wanted is concealed, whether or not it has a tile")
    func concealed() {
        let room = snapshot(
            [
                .connected("PA1", tracks: [.playing(.camera, enabled: false), .playing(.mic, enabled: false)]),
                .connected("PA2", tracks: [.playing(.camera), .playing(.screen)]),
            ],
            [tile("PA1"), tile("PA2")]
        )
        #expect(room.scene.concealed == ["PA1", "PA1.screen"])
        #expect(room.scene.tiles[0].source == .placeholder && !room.scene.tiles[0].isMicOn)
    }

    @Test("Avatars and strips come with the tiles; another version of an uploaded file is another asset")
    func assets() throws {
        var room = snapshot(
            [.connected("PA1", tracks: [.playing(.camera)])],
            [tile("PA1", avatar: "asset:face", inStrip: true)]
        )
        #expect(room.scene.tiles[0].avatar == "asset:face" && room.scene.tiles[0].isInStrip)
        #expect(room.assets == [WantedAsset(id: "asset:face", version: nil)])
        var event = EventResource(
            type: StageEvent.Name.assetStored.rawValue,
            roomSID: "RM1",
            rev: 2,
            ts: Timestamp(0)
        )
        event.asset = AssetResource(
            name: "face",
            kind: "image",
            contentType: "image/png",
            size: 10,
            version: "2",
            dateStored: Timestamp(0)
        )
        room.apply(event)
        #expect(room.assets == [WantedAsset(id: "asset:face", version: "2")])
        // Taken out of the room it is not asked for, and put there again it is.
        event.type = StageEvent.Name.assetRemoved.rawValue
        room.apply(event)
        #expect(room.assets.isEmpty && room.removedAssets == ["asset:face"])
        event.type = StageEvent.Name.assetStored.rawValue
        room.apply(event)
        #expect(room.assets == [WantedAsset(id: "asset:face", version: "2")] && room.removedAssets.isEmpty)
    }

    @Test("Of what was taken out of the room only the latest is remembered")
    func removedAssets() {
        var room = snapshot([], [])
        for number in 0..<200 {
            var event = EventResource(
                type: StageEvent.Name.assetRemoved.rawValue,
                roomSID: "RM1",
                rev: UInt64(number + 2),
                ts: Timestamp(0)
            )
            event.asset = AssetResource(
                name: "n\(number)",
                kind: "image",
                contentType: "image/png",
                size: 10,
                version: "1",
                dateStored: Timestamp(0)
            )
            room.apply(event)
        }
        #expect(room.removedAssets == (104..<200).map { "asset:n\($0)" })
    }
}
