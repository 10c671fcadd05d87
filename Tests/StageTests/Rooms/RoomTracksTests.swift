import Testing

@testable import Stage

@Suite("Tracks by command")
struct RoomTracksTests {
    private var run = StageFixture()

    init() throws {
        try run.join("ann")
        _ = run.events()
    }

    private mutating func publish(_ name: TrackName, enabled: Bool = true, of identity: String = "ann") throws -> Track
    {
        try run.room.publishTrack(name, of: identity, isEnabled: enabled, at: run.now)
    }

    private mutating func enable(_ name: TrackName, _ isEnabled: Bool) throws {
        _ = try run.room.setTrack(name, of: "ann", isEnabled: isEnabled, at: run.now)
    }

    private mutating func unpublish(_ name: TrackName) throws {
        try run.room.unpublishTrack(name, of: "ann", at: run.now)
    }

    private func tracks() throws -> [Track] {
        try run.view("ann").tracks
    }

    private func passes(_ name: TrackName) throws -> Bool {
        try run.participant("ann").gate.passes(name)
    }

    @Test("T1 a microphone that is switched off is unpublished, and one switched on again is a new track")
    mutating func micOff() throws {
        try run.encode("ann")
        try run.mix("ann")
        let old = try #require(run.view("ann").track(.mic))
        _ = run.events()

        try unpublish(.mic)
        let events = run.events()
        #expect(events.map(\.name) == [.trackUnpublished, .layoutChanged])
        guard case .trackUnpublished(let track, _, .unpublished) = events[0].payload else {
            Issue.record("unpublished for another reason: \(events[0].payload)")
            return
        }
        #expect(track.sid == old.sid)
        #expect(try !passes(.mic) && passes(.camera), "video is unaffected")
        #expect(try run.view("ann").isCameraOn && !run.view("ann").isMicOn)
        try unpublish(.mic)
        #expect(run.events().isEmpty, "setting the same value does nothing")

        let new = try publish(.mic)
        #expect(new.sid != old.sid && new.codec == "AAC")
        #expect(try passes(.mic))
        try run.mix("ann")
        #expect(run.names() == [.trackPublished, .trackSubscribed, .layoutChanged])
        #expect(try run.view("ann").isMicOn)
    }

    @Test("T3b what arrives of an unpublished track stays off the air, also after its encoder connects again")
    mutating func withdrawn() throws {
        let connection = try run.encode("ann")
        try unpublish(.camera)
        try run.stopEncoder("ann", connection: connection)
        try run.encode("ann")
        try run.mix("ann")
        #expect(try run.view("ann").tracks.map(\.name) == [.mic])
        #expect(try !passes(.camera))
    }

    @Test("T3b a track withdrawn before the encoder comes does not appear with it")
    mutating func withdrawnBefore() throws {
        try unpublish(.mic)
        #expect(run.names() == [.participantUpdated])
        try run.encode("ann")
        #expect(try run.view("ann").tracks.map(\.name) == [.camera])
        #expect(try !passes(.mic))
    }

    @Test("T3b of a host with a session only published tracks pass, and others are reported as discarded")
    mutating func session() throws {
        try run.heartbeat("ann")
        _ = run.events()
        let connection = try run.encode("ann")
        #expect(try run.view("ann").tracks.isEmpty && !passes(.mic) && !passes(.camera))
        #expect(try run.view("ann").discarded == [.mic, .camera] && run.view("ann").status == .connected)
        #expect(run.names().last == .participantUpdated)

        _ = try publish(.mic)
        #expect(try run.view("ann").tracks.map(\.name) == [.mic] && run.view("ann").discarded == [.camera])
        #expect(try passes(.mic) && !passes(.camera))
        _ = run.events()
        try run.stopEncoder("ann", connection: connection)
        #expect(try run.view("ann").discarded.isEmpty && run.names().contains(.participantUpdated))
        try run.encode("ann")
        #expect(try run.view("ann").tracks.map(\.name) == [.mic] && run.view("ann").discarded == [.camera])
        _ = try publish(.camera)
        #expect(try passes(.camera) && run.view("ann").discarded.isEmpty)
    }

    @Test("T3b what an encoder alone had published stays published when a session begins, and when its encoder is back")
    mutating func sessionAfterEncoder() throws {
        var connection = try run.encode("ann", media: PublishedMedia(hasVideo: true, videoCodec: "H.264"))
        try run.heartbeat("ann")
        #expect(try run.view("ann").tracks.map(\.name) == [.camera] && passes(.camera))
        try run.stopEncoder("ann", connection: connection)
        connection = try run.encode("ann")
        #expect(try run.view("ann").tracks.map(\.name) == [.camera] && run.view("ann").discarded == [.mic])

        // After a restart too.
        let record = run.room.record(keys: [])
        #expect(record.participants.first?.automaticTracks == [.camera])
        run.room = Room(restoring: record, replayedEvents: 64, at: run.now)
        try run.encode("ann")
        #expect(try run.view("ann").tracks.map(\.name) == [.camera] && run.view("ann").discarded == [.mic])
    }

    @Test("T3b a promoted viewer with a session publishes by command")
    mutating func promoted() throws {
        try run.join("eve", .receiveOnly)
        try run.heartbeat("eve")
        _ = try run.room.changeMode("eve", to: .sendAndReceive, at: run.now)
        try run.encode("eve")
        #expect(try run.view("eve").tracks.isEmpty && run.view("eve").discarded == [.mic, .camera])
    }

    @Test("T14 call settings that leave microphone or camera off keep the encoder's off the air")
    mutating func callSettings() throws {
        try run.join("ben", .sendAndReceive, CallSettings(isAudioOn: false, isVideoOn: true))
        try run.encode("ben")
        #expect(try run.view("ben").tracks.map(\.name) == [.camera])
        _ = try publish(.mic, of: "ben")
        #expect(try run.view("ben").tracks.map(\.name) == [.mic, .camera])
    }

    @Test("T6 a muted track stays published and keeps the tile, and its return is heard at once")
    mutating func mute() throws {
        try run.encode("ann")
        try run.mix("ann")
        _ = run.events()

        try enable(.mic, false)
        #expect(run.names() == [.trackDisabled, .layoutChanged])
        #expect(try !passes(.mic))
        var mic = try #require(run.view("ann").track(.mic))
        #expect(mic.mediaState == .off && mic.isSubscribed && !mic.isOn)
        #expect(run.room.layout.tiles.first?.isMicOn == false)
        // A muted track does not reach the mixer.
        run.now += 60
        try run.mix("ann", [.camera])
        #expect(run.events().isEmpty)

        try enable(.mic, false)
        #expect(run.events().isEmpty, "an equal value causes no event")
        try enable(.mic, true)
        #expect(run.names() == [.trackEnabled, .layoutChanged])
        mic = try #require(run.view("ann").track(.mic))
        #expect(mic.mediaState == .playable)
        #expect(try passes(.mic) && run.view("ann").isMicOn)
    }

    @Test("T10 a muted host whose encoder connects again stays muted")
    mutating func mutedForGood() throws {
        let connection = try run.encode("ann")
        try enable(.camera, false)
        try run.stopEncoder("ann", connection: connection)
        #expect(try run.view("ann").tracks.map(\.name) == [.camera], "published by command, it outlives the connection")
        try run.encode("ann")
        try run.mix("ann")
        #expect(try run.view("ann").isMicOn && !run.view("ann").isCameraOn)
        #expect(try !passes(.camera))
        #expect(run.room.layout.tiles.first?.source == .placeholder)
    }

    @Test("T7 a track of the same name is refused with 53304, but a command takes over what the encoder published")
    mutating func duplicate() throws {
        try run.encode("ann")
        let automatic = try #require(run.view("ann").track(.mic))
        _ = run.events()
        #expect(try publish(.mic).sid == automatic.sid)
        #expect(run.names() == [.participantUpdated])
        #expect(run.code { _ = try $0.publishTrack(.mic, of: "ann", isEnabled: true, at: 1) } == 53304)
        #expect(try publish(.camera, enabled: false).isEnabled == false)
        #expect(run.names() == [.trackDisabled])
        #expect(try publish(.screen).mediaState == .loading)
        #expect(run.code { _ = try $0.publishTrack(.screen, of: "ann", isEnabled: false, at: 1) } == 53304)
    }

    @Test("V3 only a host publishes: 3066, and nothing changes")
    mutating func onlyHosts() throws {
        try run.join("eve", .receiveOnly)
        try run.join("sam", .signallingOnly)
        _ = run.events()
        let before = run.room.view
        for identity in ["eve", "sam"] {
            #expect(run.code { _ = try $0.publishTrack(.mic, of: identity, isEnabled: true, at: 1) } == 3066)
            #expect(run.code { _ = try $0.setTrack(.mic, of: identity, isEnabled: true, at: 1) } == 3066)
            #expect(run.code { try $0.unpublishTrack(.mic, of: identity, at: 1) } == 3066)
        }
        #expect(run.room.view == before)
        #expect(run.code { _ = try $0.setTrack(.mic, of: "ann", isEnabled: false, at: 1) } == 53300)
        #expect(run.code { _ = try $0.publishTrack(.mic, of: "zoe", isEnabled: true, at: 1) } == 53204)
    }

    @Test("V7 mixer and host states together determine the stream transitions")
    mutating func streamTransitions() throws {
        var transitions = StreamTransitions()
        var received: [[StreamTransitions.Transition]] = []
        try run.encode("ann")
        received.append(transitions.update(tracks: try tracks()))
        try run.mix("ann")
        received.append(transitions.update(tracks: try tracks()))
        try enable(.camera, false)
        received.append(transitions.update(tracks: try tracks()))
        received.append(transitions.update(tracks: try tracks()))
        try run.encode("ann", .screen)
        try run.mix("ann", [.mic, .screen])
        try unpublish(.mic)
        received.append(transitions.update(tracks: try tracks()))
        // Published, decoded, muted, the same again, and then one gone and another come.
        let expected: [[StreamTransitions.Transition]] = [
            [], [.enabled(.audio), .enabled(.video)], [.disabled(.video)], [], [.disabled(.audio), .enabled(.share)],
        ]
        #expect(received == expected)
    }
}

@Suite("A track")
struct TrackTests {
    @Test("T4 a microphone is on only when its track is published, subscribed and enabled; all eight cases")
    func eightCases() throws {
        for name in TrackName.allCases {
            for bits in 0..<8 {
                let (published, subscribed, enabled) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)
                var run = StageFixture()
                try run.join("ann")
                var track = Track(name: name, isEnabled: enabled)
                track.isSubscribed = subscribed
                if published { run.room.updateSilently(at: 0) { $0.set(track) } }
                let view = try run.view("ann")
                let isOn = published && subscribed && enabled
                #expect(view.isMicOn == (isOn && name == .mic))
                #expect(view.isCameraOn == (isOn && name == .camera))
                #expect(view.isScreenSharing == (isOn && name == .screen))
            }
        }
    }

    @Test("D31 media is playable only while it is decoded and not muted")
    func mediaState() {
        var track = Track(name: .camera, isEnabled: true)
        #expect(track.mediaState == .loading)
        track.isSubscribed = true
        track.hasPlayed = true
        #expect(track.mediaState == .playable)
        track.isSubscribed = false
        #expect(track.mediaState == .interrupted)
        track.isEnabled = false
        #expect(track.mediaState == .off)
    }

    @Test("T7 names are mic, camera and screen; microphone is understood, others are refused by kind of fault")
    func names() throws {
        for name in TrackName.allCases { #expect(try TrackName(wireName: name.rawValue) == name) }
        #expect(try TrackName(wireName: "microphone") == .mic)
        for (name, code) in [("", 53301), ("Mic", 53301), ("slides", 53301), ("my mic", 53303), ("caméra", 53303)] {
            #expect(#expect(throws: StageError.self) { try TrackName(wireName: name) }?.code == code)
        }
    }

    @Test("V7 each transition is reported once, ended streams before started ones")
    func edges() {
        var edges = StreamTransitions()
        #expect(edges.update([.audio, .share]) == [.enabled(.audio), .enabled(.share)])
        #expect(edges.update([.audio, .share]).isEmpty)
        #expect(edges.update([.video]) == [.disabled(.audio), .disabled(.share), .enabled(.video)])
        #expect(edges.streams == [.video])
    }
}
