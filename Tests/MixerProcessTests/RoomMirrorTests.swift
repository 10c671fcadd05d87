import FootlightModel
import FootlightTesting
import Mixer
import Stage
import Testing

@testable import MixerProcess

@Suite("Room mirror of a mixer")
struct RoomMirrorTests {
    private func tile(
        _ sid: String,
        source: WireEnum<Tile.Source> = "camera",
        scaleMode: WireEnum<Tile.ScaleMode> = "fill"
    ) -> TileResource {
        TileResource(
            position: 0,
            participantSID: sid,
            source: source,
            x: 4,
            y: 8,
            width: 636,
            height: 352,
            scaleMode: scaleMode,
            label: "Label",
            micOn: true
        )
    }

    private func event(
        _ name: StageEvent.Name,
        participants: [ParticipantResource]? = nil,
        tiles: [TileResource]? = nil,
        participant: ParticipantResource? = nil,
        track: TrackResource? = nil,
        reason: EventReason? = nil
    ) -> EventResource {
        var event = EventResource(
            type: .known(name),
            roomSID: "RM1",
            rev: 1,
            ts: Timestamp(0),
            participants: participants,
            tiles: tiles,
            participant: participant
        )
        event.track = track
        event.reason = reason.map { .known($0) }
        return event
    }

    private func followed(_ events: EventResource...) -> RoomMirror {
        var room = RoomMirror()
        for event in events { room.apply(event) }
        return room
    }

    private func inputs(_ room: RoomMirror) -> Set<String> { Set(room.inputs.map(\.id)) }

    private func sources(_ room: RoomMirror) -> [Tile.Source] { room.scene.tiles.map(\.source) }

    @Test("a snapshot sets hosts and tiles, without the audience")
    func snapshot() {
        let audience = ParticipantResource.connected("PA9", mode: .receiveOnly)
        let room = followed(
            event(.roomSnapshot, participants: [.connected("PA1"), audience], tiles: [tile("PA1")])
        )
        #expect(inputs(room) == ["PA1"])
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1"])
        #expect(room.scene.tiles.first?.rectangle == TileRectangle(x: 4, y: 8, width: 636, height: 352))
        #expect(room.scene.audible == ["PA1"])
        #expect(room.configuration == ProgramConfiguration())
        #expect(!room.isEnded)
    }

    @Test("a later snapshot replaces the state")
    func secondSnapshot() {
        let room = followed(
            event(.roomSnapshot, participants: [.connected("PA1"), .connected("PA2")], tiles: [tile("PA1")]),
            event(.roomSnapshot, participants: [.connected("PA3")], tiles: [])
        )
        #expect(inputs(room) == ["PA3"])
        #expect(room.scene.tiles.isEmpty)
    }

    @Test("V16 V17 follows hosts that join, leave and change their mode")
    func membership() {
        var room = followed(event(.participantJoined, participant: .connected("PA1")))
        #expect(inputs(room) == ["PA1"])
        room.apply(event(.participantJoined, participant: .connected("PA2", mode: .receiveOnly)))
        #expect(inputs(room) == ["PA1"])
        room.apply(event(.participantModeChanged, participant: .connected("PA2")))
        #expect(inputs(room) == ["PA1", "PA2"])
        room.apply(event(.participantModeChanged, participant: .connected("PA1", mode: .receiveOnly)))
        #expect(inputs(room) == ["PA2"])
        #expect(room.scene.audible == ["PA2"])
        room.apply(event(.participantLeft, participant: .connected("PA2")))
        #expect(inputs(room).isEmpty)
    }

    @Test("the last dominant speaker is the scene's speaker")
    func speaker() {
        var room = followed(event(.roomSnapshot, participants: [.connected("PA1"), .connected("PA2")], tiles: []))
        #expect(room.scene.speaker == nil)
        for (sid, speaker) in [("PA1", "PA1"), (nil, "PA1"), ("PA2", "PA2")] as [(String?, String)] {
            var change = event(.dominantSpeakerChanged)
            change.sid = ExplicitNull(wrappedValue: sid)
            room.apply(change)
            #expect(room.scene.speaker == speaker)
        }
    }

    @Test("T5 reads a screen from its publication until it is unpublished")
    func screen() {
        let sharing = ParticipantResource.connected(
            "PA1",
            tracks: [.playing(.camera), .playing(.screen, subscribed: false)]
        )
        var room = followed(event(.trackPublished, participant: sharing, track: .playing(.screen)))
        #expect(inputs(room) == ["PA1", "PA1.screen"])
        room.apply(event(.trackUnpublished, participant: .connected("PA1"), track: .playing(.screen), reason: .ended))
        #expect(inputs(room) == ["PA1"])
    }

    @Test("T6 a disabled microphone is silent with its event, and the host stays visible")
    func muted() {
        let off = ParticipantResource.connected("PA1", tracks: [.playing(.mic, enabled: false), .playing(.camera)])
        var room = followed(
            event(.roomSnapshot, participants: [.connected("PA1")], tiles: [tile("PA1")]),
            event(.trackDisabled, participant: off, track: .playing(.mic, enabled: false))
        )
        #expect(room.scene.audible.isEmpty)
        #expect(sources(room) == [.camera])
        room.apply(event(.trackEnabled, participant: .connected("PA1"), track: .playing(.mic)))
        #expect(room.scene.audible == ["PA1"])
    }

    @Test("T3 an unpublished microphone is silent; one that is not decoded yet is audible")
    func withdrawn() {
        let mute = ParticipantResource.connected("PA1", tracks: [.playing(.camera)])
        #expect(followed(event(.trackUnpublished, participant: mute, track: .playing(.mic))).scene.audible.isEmpty)
        let loading = ParticipantResource.connected("PA1", tracks: [.playing(.mic, subscribed: false)])
        #expect(followed(event(.trackPublished, participant: loading)).scene.audible == ["PA1"])
    }

    @Test(
        "T3 T6 a disabled or unpublished camera leaves its tile before the layout changes",
        arguments: [true, false]
    )
    func cameraOff(isDisabled: Bool) {
        let disabled: [TrackResource] = isDisabled ? [.playing(.camera, enabled: false)] : []
        let tracks = [.playing(.mic)] + disabled
        let room = followed(
            event(.roomSnapshot, participants: [.connected("PA1")], tiles: [tile("PA1")]),
            event(
                isDisabled ? .trackDisabled : .trackUnpublished,
                participant: .connected("PA1", tracks: tracks),
                track: .playing(.camera),
                reason: isDisabled ? nil : .unpublished
            )
        )
        #expect(sources(room) == [.placeholder])
        #expect(room.scene.audible == ["PA1"])
    }

    @Test("a camera that was lost with its connection keeps its input until it returns or is unpublished")
    func lost() {
        let bare = ParticipantResource.connected("PA1", tracks: [])
        var room = followed(
            event(.roomSnapshot, participants: [.connected("PA1")], tiles: [tile("PA1")]),
            event(.trackUnpublished, participant: bare, track: .playing(.mic), reason: .ended),
            event(.trackUnpublished, participant: bare, track: .playing(.camera), reason: .ended),
            event(.participantReconnecting, participant: bare),
            event(.layoutChanged, tiles: [tile("PA1", source: "placeholder")])
        )
        #expect(sources(room) == [.camera])
        #expect(room.scene.audible.isEmpty)
        room.apply(event(.trackUnpublished, participant: bare, track: .playing(.camera), reason: .unpublished))
        #expect(sources(room) == [.placeholder])
    }

    @Test("a camera that is not decoded yet is shown")
    func loading() {
        let loading = ParticipantResource.connected("PA1", tracks: [.playing(.camera, subscribed: false)])
        let room = followed(
            event(.roomSnapshot, participants: [loading], tiles: [tile("PA1", source: "placeholder")])
        )
        #expect(sources(room) == [.camera])
    }

    @Test("D28 a screen's tile shows the screen, and the camera after the screen has ended")
    func layout() {
        let sharing = ParticipantResource.connected("PA1", tracks: [.playing(.camera), .playing(.screen)])
        var room = followed(
            event(.roomSnapshot, participants: [sharing, .connected("PA3")], tiles: [tile("PA1")]),
            event(
                .layoutChanged,
                tiles: [tile("PA1", source: "screen", scaleMode: "fit"), tile("PA1"), tile("PA3", source: "hologram")]
            )
        )
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1.screen", "PA1"])
        #expect(room.scene.tiles.map(\.scaleMode) == [.fit, .fill])
        let off = ParticipantResource.connected("PA1", tracks: [.playing(.camera), .playing(.screen, enabled: false)])
        room.apply(event(.trackDisabled, participant: off, track: .playing(.screen, enabled: false)))
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1", "PA1"])
    }

    @Test("a host without a tile is audible, and tiles of absent participants are dropped")
    func hidden() {
        let room = followed(
            event(
                .roomSnapshot,
                participants: [.connected("PA1"), .connected("PA2")],
                tiles: [tile("PA1"), tile("PA7")]
            )
        )
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1"])
        #expect(room.scene.audible == ["PA1", "PA2"])
    }

    @Test(
        "ignores events without effect on the stage",
        arguments: [
            "heartbeat", "livestream.state_changed", "livestream.output_updated", "viewership.updated", "something.new",
        ]
    )
    func others(type: WireEnum<StageEvent.Name>) {
        var room = followed(event(.participantJoined, participant: .connected("PA1")))
        let before = room
        room.apply(EventResource(type: type, roomSID: "RM1", rev: 2, ts: Timestamp(0)))
        #expect(room == before)
    }

    @Test("after the room's end there are no inputs and no return feeds")
    func ends() {
        var host = ParticipantResource.connected("PA1")
        host.sound.returnFeed = true
        var room = followed(event(.participantJoined, participant: host))
        #expect(!room.feeds.isEmpty)
        room.apply(event(.roomEnded))
        #expect(room.isEnded && room.inputs.isEmpty && room.feeds.isEmpty)
        #expect(room.scene.slate?.kind == .ended)
    }

    @Test("the jitter target of an input is the host's, else the program's, also for a screen")
    func jitterTarget() {
        var host = ParticipantResource.connected("PA1", tracks: [.playing(.camera), .playing(.screen)])
        host.sound.jitterTarget = 60
        let room = followed(
            event(.participantJoined, participant: host),
            event(.participantJoined, participant: .connected("PA2"))
        )
        let targets = Dictionary(uniqueKeysWithValues: room.inputs.map { ($0.id, room.jitterTarget(of: $0)) })
        #expect(targets == ["PA1": 60, "PA1.screen": 60, "PA2": 300])
    }

    @Test("T5 reports the decoded tracks and the audio level of each host")
    func report() throws {
        let sharing = ParticipantResource.connected(
            "PA2",
            tracks: [.playing(.mic, enabled: false), .playing(.camera, subscribed: false), .playing(.screen)]
        )
        let room = followed(
            event(.roomSnapshot, participants: [.connected("PA1"), sharing, .connected("PA3", mode: .receiveOnly)])
        )
        let report = room.report([
            HostSignal(id: "PA1", level: -31.46, peak: -20, hasAudio: true, hasVideo: true),
            HostSignal(id: "PA2", level: -20, peak: -10, hasAudio: false, hasVideo: false),
            HostSignal(id: "PA2.screen", hasVideo: true),
            HostSignal(id: "PA3", level: -20, peak: -10, hasAudio: true, hasVideo: true),
        ])
        #expect(report.participants.map(\.sid) == ["PA1", "PA2"])
        #expect(report.participants[0].audioLevel == -31.5)
        #expect(report.participants[0].subscribed == ["mic", "camera"])
        // A disabled track keeps its subscription state.
        #expect(report.participants[1].subscribed == ["mic", "screen"])
        #expect(report.participants[1].audioLevel == nil)
    }
}

@Suite("Scene of a mirrored room")
struct RoomMirrorSceneTests {
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
    ) -> RoomMirror {
        var settings = LayoutSettingsResource(type: "GRID", gridSize: 12, orientation: "landscape")
        change(&settings)
        var event = EventResource(
            type: .known(.roomSnapshot),
            roomSID: "RM1",
            rev: 1,
            ts: Timestamp(0),
            participants: hosts
        )
        event.layout = LayoutResource(settings: settings, width: 1280, height: 720, tiles: tiles)
        var room = RoomMirror()
        room.apply(event)
        return room
    }

    @Test("colours, images, titles and transition follow the layout")
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

    @Test("shows the layout's starting slate without tiles before any host was on air")
    func slates() {
        let room = snapshot([], []) { settings in
            settings.slates.startingSoon = SlateResource(text: "At eight", image: "asset:door", music: "asset:tune")
        }
        #expect(
            room.scene.slate
                == Slate(kind: .startingSoon, text: "At eight", image: "asset:door", music: "asset:tune")
        )
        #expect(room.scene.tiles.isEmpty)
        let (door, tune) = (RequiredAsset(id: "asset:door", version: nil), "asset:tune")
        #expect(room.assets == [door, RequiredAsset(id: tune, version: nil, kind: .sound)])
    }

    @Test("shows the break slate after the last host has left, before the gateway reports it")
    func wasOnAir() {
        var silent = ParticipantResource.connected("PA1", tracks: [])
        (silent.isMicOn, silent.isCameraOn) = (false, false)
        var room = snapshot([silent], [])
        #expect(room.scene.slate?.kind == .startingSoon)
        func event(_ name: StageEvent.Name, _ host: ParticipantResource?, _ tiles: [TileResource]?) -> EventResource {
            EventResource(
                type: .known(name),
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

    @Test("the stand-in slate of an overloaded program follows the room's break slate")
    func overloadSlate() {
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

    @Test("T6 conceals a disabled camera or screen with and without a tile")
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

    @Test("avatars and strips follow the tiles, and another version of an upload is another asset")
    func assets() throws {
        var room = snapshot(
            [.connected("PA1", tracks: [.playing(.camera)])],
            [tile("PA1", avatar: "asset:face", inStrip: true)]
        )
        #expect(room.scene.tiles[0].avatar == "asset:face" && room.scene.tiles[0].isInStrip)
        #expect(room.assets == [RequiredAsset(id: "asset:face", version: nil)])
        var event = EventResource(
            type: .known(.assetStored),
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
        #expect(room.assets == [RequiredAsset(id: "asset:face", version: "2")])
        // A removed asset is not required, and is again when it is stored.
        event.type = .known(.assetRemoved)
        room.apply(event)
        #expect(room.assets.isEmpty && room.removedAssets == ["asset:face"])
        event.type = .known(.assetStored)
        room.apply(event)
        #expect(room.assets == [RequiredAsset(id: "asset:face", version: "2")] && room.removedAssets.isEmpty)
    }

    @Test("remembers the latest removed assets only")
    func removedAssets() {
        var room = snapshot([], [])
        for number in 0..<200 {
            var event = EventResource(
                type: .known(.assetRemoved),
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

@Suite("Audio scene of a mirrored room")
struct RoomMirrorAudioTests {
    private func host(_ sid: String, _ change: (inout ParticipantResource) -> Void = { _ in }) -> ParticipantResource {
        var host = ParticipantResource.connected(sid)
        change(&host)
        return host
    }

    private func event(_ name: StageEvent.Name) -> EventResource {
        EventResource(type: .known(name), roomSID: "RM1", rev: 1, ts: Timestamp(0))
    }

    private func room(_ audio: RoomSoundResource) -> RoomResource {
        RoomResource(
            sid: "RM1",
            uniqueName: "show",
            status: "in-progress",
            backstage: false,
            maxParticipants: 50,
            maxHosts: 12,
            emptyRoomTimeout: 0,
            unusedRoomTimeout: 0,
            counts: CountsResource(hosts: 2, audience: 0, anonymous: 0, signallingOnly: 0, participants: 2),
            dominantSpeakerSID: nil,
            layout: LayoutSettingsResource(type: "GRID", gridSize: 12, orientation: "landscape"),
            sound: audio,
            egress: EgressResource(
                broadcasting: false,
                livestream: LivestreamResource(state: "idle", startedAt: nil, outputs: []),
                hls: HLSResource(state: "idle", startedAt: nil, playbackHLSURL: nil)
            ),
            program: ProgramResource(),
            playback: PlaybackResource(hlsURL: "", rtmpURL: "", flvURL: ""),
            revision: 1,
            dateCreated: Timestamp(0),
            dateUpdated: Timestamp(0),
            endTime: nil,
            links: [:]
        )
    }

    private func followed(_ hosts: [ParticipantResource], duck: WireEnum<RoomAudioSettings.Duck>) -> RoomMirror {
        var snapshot = event(.roomSnapshot)
        snapshot.participants = hosts
        snapshot.room = room(RoomSoundResource(duck: duck))
        var followed = RoomMirror()
        followed.apply(snapshot)
        return followed
    }

    private func pin(_ sid: String, _ pin: PinResource?) -> EventResource {
        var event = event(.pinChanged)
        event.participantSID = sid
        event.pin = ExplicitNull(wrappedValue: pin)
        return event
    }

    private let pinned = PinResource(isLocal: false, pinType: "CAM", pinnedAt: Timestamp(1))

    @Test("ducking under a pinned host follows the pin event")
    func pins() {
        var room = followed([host("PA1"), host("PA2")], duck: "pinned")
        #expect(room.scene.audio.duckUnder.isEmpty)
        room.apply(pin("PA2", pinned))
        #expect(room.scene.audio.duckUnder == ["PA2"])
        room.apply(pin("PA1", pinned))
        room.apply(pin("PA2", nil))
        #expect(room.scene.audio.duckUnder == ["PA1"])
        // A participant that is not a host is ignored.
        room.apply(pin("PA9", pinned))
        #expect(room.scene.audio.duckUnder == ["PA1"] && room.hosts.map(\.sid) == ["PA1", "PA2"])
    }

    @Test("ducks under pinned and priority hosts according to the room's setting")
    func ducking() {
        let hosts = [host("PA1") { $0.pin = pinned }, host("PA2") { $0.sound.priority = true }, host("PA3")]
        let expected: [(WireEnum<RoomAudioSettings.Duck>, Set<String>)] = [
            ("off", []), ("pinned", ["PA1"]), ("priority", ["PA2"]), ("both", ["PA1", "PA2"]),
        ]
        for (duck, under) in expected { #expect(followed(hosts, duck: duck).scene.audio.duckUnder == under, "\(duck)") }
        var room = followed(hosts, duck: "off")
        var change = event(.roomUpdated)
        change.room = self.room(RoomSoundResource(levelling: false, duck: "both", duckDB: -12))
        room.apply(change)
        let audio = room.scene.audio
        #expect(audio.duckUnder == ["PA1", "PA2"] && audio.duckDepth == -12 && !audio.isLevelling)
    }

    @Test("by default ducks under priority hosts only")
    func usual() {
        let usual = RoomSoundResource().duck
        let plain = [host("PA1") { $0.pin = pinned }, host("PA2")]
        #expect(followed(plain, duck: usual).scene.audio.duckUnder.isEmpty)
        let first = plain + [host("PA3") { $0.sound.priority = true }]
        #expect(followed(first, duck: usual).scene.audio.duckUnder == ["PA3"])
    }

    @Test("applies a host's gain, and omits 0 dB")
    func gains() {
        var room = followed([host("PA1"), host("PA2")], duck: "off")
        #expect(room.scene.audio.gains.isEmpty && room.scene.audio.isLevelling)
        var change = event(.participantUpdated)
        change.participant = host("PA2") { $0.sound.gainDB = -6 }
        room.apply(change)
        #expect(room.scene.audio.gains == ["PA2": -6])
    }

    @Test("backstage there is a preview of what would be on air, while somebody is shown it")
    func preview() {
        var room = followed([host("PA1") { $0.tracks = [.playing(.mic), .playing(.camera)] }], duck: "off")
        let onAir = room.scene
        #expect(onAir.previewTiles == nil && room.feeds.isEmpty)
        room.isPreviewWatched = true
        #expect(room.scene == onAir && room.feeds.isEmpty, "on air the program is what there is to see")
        var change = event(.roomUpdated)
        change.room = self.room(RoomSoundResource())
        change.room?.backstage = true
        room.apply(change)
        #expect(room.scene.tiles.isEmpty && room.scene.slate != nil && room.scene.audible.isEmpty)
        #expect(room.scene.previewTiles == onAir.tiles)
        #expect(room.scene.audio.returns == [Scene.previewMix])
        #expect(room.feeds == [Scene.previewMix: .preview])
        room.isPreviewWatched = false
        #expect(room.scene.previewTiles == nil && room.feeds.isEmpty)
        // For return feeds there is one without a director.
        var guest = event(.participantJoined)
        guest.participant = host("PA2") { $0.sound.returnFeed = true }
        room.apply(guest)
        #expect(room.scene.previewTiles != nil && room.feeds == ["PA2": .hostReturn("pa2")])
        #expect(room.scene.audio.returns == ["PA2"])
        room.apply(event(.roomEnded))
        #expect(room.scene.previewTiles == nil && room.feeds.isEmpty)
    }

    @Test("backstage the hosts hear each other, and the audience hears none of them")
    func talkback() {
        let talking = ["PA1", "PA2"].map { host($0) { $0.tracks = [.playing(.mic)] } }
        var room = followed(talking + [host("PA3") { $0.tracks = [] }], duck: "off")
        #expect(room.scene.audible == ["PA1", "PA2"])
        var change = event(.roomUpdated)
        change.room = self.room(RoomSoundResource())
        change.room?.backstage = true
        room.apply(change)
        #expect(room.scene.audible.isEmpty && room.scene.talkback == ["PA1", "PA2"])
        change.room?.backstage = false
        room.apply(change)
        #expect(room.scene.audible == ["PA1", "PA2"] && room.scene.talkback.isEmpty)
        change.room?.backstage = true
        room.apply(change)
        room.apply(event(.roomEnded))
        #expect(room.scene.audible.isEmpty && room.scene.talkback.isEmpty)
    }
}

extension ParticipantResource {
    /// Makes a connected participant, with microphone and camera on.
    ///
    /// - Parameter tracks: Nil for an enabled microphone and camera.
    static func connected(
        _ sid: String,
        mode: ParticipantMode = .sendAndReceive,
        tracks: [TrackResource]? = nil
    ) -> ParticipantResource {
        ParticipantResource(
            sid: sid,
            identity: sid.lowercased(),
            displayName: sid,
            mode: .known(mode),
            status: "connected",
            isMicOn: true,
            isCameraOn: true,
            isScreenSharing: false,
            position: nil,
            tracks: tracks ?? [.playing(.mic), .playing(.camera)],
            joinedAt: Timestamp(0),
            revision: 1
        )
    }
}

extension TrackResource {
    /// Makes a track whose media is in the program.
    static func playing(_ name: TrackName, enabled: Bool = true, subscribed: Bool = true) -> TrackResource {
        TrackResource(
            sid: "MT",
            name: .known(name),
            kind: .known(name.kind),
            published: true,
            subscribed: subscribed,
            enabled: enabled,
            mediaState: "playable",
            width: nil,
            height: nil,
            fps: nil,
            codec: nil
        )
    }
}
