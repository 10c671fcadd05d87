import Testing

@testable import Stage

@Suite("A track")
struct TrackTests {
    @Test("T4 a microphone is on only when its track is published, subscribed and enabled; all eight cases")
    func eightCases() throws {
        for name in TrackName.allCases {
            for bits in 0..<8 {
                let (published, subscribed, enabled) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)
                var run = StageRun()
                try run.join("ann")
                var track = Track(name: name, isEnabled: enabled)
                track.isSubscribed = subscribed
                if published { run.room.note(at: 0) { $0.set(track) } }
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

    @Test("V7 edges are told once each, what ceased before what began")
    func edges() {
        var edges = StreamEdges()
        #expect(edges.update([.audio, .share]) == [.enabled(.audio), .enabled(.share)])
        #expect(edges.update([.audio, .share]).isEmpty)
        #expect(edges.update([.video]) == [.disabled(.audio), .disabled(.share), .enabled(.video)])
        #expect(edges.streams == [.video])
    }
}
