import FootlightClient
import FootlightModel
import Stage
import Testing

@Suite("The content and positions of tiles")
struct TileTests {
    @Test("D28 a screen replaces the camera, and the camera returns")
    func screen() {
        let content = { (tracks: [TrackName]) in
            ParticipantTileContent(SampleParticipants.participant("bob", on: tracks)).content
        }
        #expect(content([.camera]) == .video(.camera))
        #expect(content([.camera, .screen]) == .video(.screen))
        #expect(content([.screen]) == .video(.screen))
        #expect(content([.camera]) == .video(.camera))
    }

    @Test("D29 screens and the local preview are fitted, other cameras fill; the preview keeps the aspect ratio")
    func scale() {
        let remote = SampleParticipants.participant("bob", on: [.camera])
        let screen = SampleParticipants.participant("bob", on: [.camera, .screen])
        #expect(ParticipantTileContent(remote).scaleMode == .fill && ParticipantTileContent(screen).scaleMode == .fit)
        #expect(ParticipantTileContent(remote, isLocal: true).scaleMode == .fit)
        let portrait = LocalPreview(orientation: .portrait, camera: .front)
        #expect(portrait.aspectRatio == 0.5625 && portrait.scaleMode == .fit)
        let landscape = LocalPreview(orientation: .landscape, camera: .front)
        #expect(landscape.aspectRatio > 1.77 && landscape.aspectRatio < 1.78)
    }

    @Test("D30 only the local camera that faces the user is mirrored")
    func mirrored() {
        let camera = SampleParticipants.participant("bob", on: [.camera])
        let screen = SampleParticipants.participant("bob", on: [.screen])
        #expect(ParticipantTileContent(camera, isLocal: true, camera: .front).isMirrored)
        #expect(!ParticipantTileContent(camera, isLocal: true, camera: .back).isMirrored)
        #expect(!ParticipantTileContent(camera, camera: .front).isMirrored)
        #expect(!ParticipantTileContent(screen, isLocal: true, camera: .front).isMirrored)
        #expect(LocalPreview(orientation: .portrait, camera: .front).isMirrored)
        #expect(!LocalPreview(orientation: .portrait, camera: .back).isMirrored)
    }

    @Test("L8 V8 V9 without video a tile shows a status, the name and the avatar, for muted and unmuted hosts")
    func placeholder() {
        let host = ParticipantTileContent(
            SampleParticipants.participant("bob", on: [.mic], name: "Bob", avatar: "asset:bob")
        )
        #expect(host.content == .placeholder(.init(status: "No media", name: "Bob", avatar: "asset:bob")))
        #expect(host.label == "Bob" && host.isMicOn, "V8: name and microphone")
        let silent = ParticipantTileContent(SampleParticipants.participant("bob", disabled: [.camera], name: "Bob"))
        #expect(silent.content == .placeholder(.init(status: "No media", name: "Bob")) && !silent.isMicOn)
        let viewer = ParticipantTileContent(
            SampleParticipants.participant("eve", mode: .receiveOnly, on: [.camera, .mic], name: "Eve")
        )
        #expect(viewer.content == .placeholder(.init(status: "Viewer", name: "Eve")) && !viewer.isMicOn)
        let signalling = ParticipantTileContent(
            SampleParticipants.participant("max", mode: .signallingOnly, name: "Max")
        )
        #expect(signalling.content == .placeholder(.init(name: "Max")))
        #expect(ParticipantTileContent(SampleParticipants.participant("x", name: "")).label == "Guest", "D8")
    }

    @Test("L9 the strip's badge marks muted participants")
    func badge() {
        #expect(ParticipantTileContent(SampleParticipants.participant("bob")).showsMuteBadge)
        #expect(ParticipantTileContent(SampleParticipants.participant("bob", disabled: [.mic])).showsMuteBadge)
        #expect(!ParticipantTileContent(SampleParticipants.participant("bob", on: [.mic])).showsMuteBadge)
    }

    @Test("L7 the first fills the stage, fitted; the others are in the strip in the same order")
    func stage() {
        let three = SpeakerStage(["a", "b", "c"])
        #expect(three.stage == "a" && three.strip == ["b", "c"] && three.scaleMode == .fit && three.hasStrip)
        #expect(SpeakerStage(["a"]).stage == "a" && !SpeakerStage(["a"]).hasStrip)
        #expect(SpeakerStage([String]()).stage == nil)
    }

    @Test("T20 the large tile shows the dominant speaker, else the previous one, else the first other")
    func speaker() {
        var choice = SpeakerChoice()
        #expect(choice.choose(dominant: nil, remote: [], local: "me") == "me")
        #expect(choice.choose(dominant: nil, remote: ["a", "b"], local: "me") == "a")
        #expect(choice.choose(dominant: "b", remote: ["a", "b"], local: "me") == "b")
        #expect(choice.choose(dominant: nil, remote: ["a", "b"], local: "me") == "b")
        #expect(choice.choose(dominant: "gone", remote: ["a", "b"], local: "me") == "b")
        #expect(choice.choose(dominant: nil, remote: ["a"], local: "me") == "a")
        #expect(choice.choose(dominant: nil, remote: ["a", "b"], local: "me") == "a", "who left is forgotten")
    }

    @Test("T19 the local participant first, new ones last; a speaker off the page replaces the oldest speaker")
    func gallery() {
        var gallery = GalleryPages(local: "me")
        gallery.update(["a", "b", "c", "d", "e", "f", "g"])
        #expect(gallery.pages == [["me", "a", "b", "c", "d", "e"], ["f", "g"]])
        for speaker in ["b", "a", "c", "d", "e"] { gallery.setDominant(speaker) }
        #expect(gallery.pages[0] == ["me", "a", "b", "c", "d", "e"], "speakers on the page stay")
        gallery.setDominant("g")
        #expect(gallery.pages == [["me", "a", "g", "c", "d", "e"], ["b", "f"]])
        gallery.setDominant(nil)
        gallery.setDominant("me")
        gallery.setDominant("f")
        #expect(gallery.pages == [["me", "f", "g", "c", "d", "e"], ["a", "b"]], "never oneself")
        gallery.update(["b", "c", "d", "e", "f", "g", "h"])
        #expect(gallery.pages == [["me", "f", "g", "c", "d", "e"], ["b", "h"]], "a left, h came last")
    }

    @Test("L13 visible participants and their sizes")
    func visibility() {
        var tracks = VisibleTracks()
        tracks.setVisible("a", true)
        tracks.setSize("b", .init(width: 320, height: 180))
        #expect(tracks.shown == ["a", "b"] && tracks.sizes == ["b": .init(width: 320, height: 180)])
        tracks.setSize("b", .init(width: 0, height: 180))
        #expect(tracks.shown == ["a"] && tracks.sizes.isEmpty)
        tracks.setVisible("a", false)
        #expect(tracks.shown.isEmpty)
    }
}

@Suite("The participants of a view")
struct ParticipantTrackerTests {
    @Test("T4 a track is on if it is published, subscribed and enabled: all 8 combinations", arguments: 0..<8)
    func isOn(bits: Int) {
        for name in [TrackName.mic, .camera] {
            var participant = SampleParticipants.participant("bob")
            #expect(!participant.isOn(name), "no such track")
            let flags = (0..<3).map { bits >> $0 & 1 == 1 }
            participant.tracks = [
                SampleParticipants.track(name, published: flags[0], subscribed: flags[1], enabled: flags[2])
            ]
            #expect(participant.isOn(name) == (bits == 7))
            #expect(!participant.isOn(name == .mic ? .camera : .mic), "another name")
        }
    }

    @Test("V2 only hosts are displayed: viewers take no position in a view")
    func hosts() {
        var follower = ParticipantTracker(identity: "ann")
        #expect(follower.participants.local.username == "Guest" && follower.participants.count == 1, "D8")
        follower.apply([
            SampleParticipants.participant("ann", name: "Ann"), SampleParticipants.participant("bob", on: [.camera]),
            SampleParticipants.participant("eve", mode: .receiveOnly),
            SampleParticipants.participant("sig", mode: .signallingOnly),
        ])
        #expect(follower.participants.local.username == "Ann")
        #expect(follower.participants.visible.map(\.id) == ["PA-bob"] && follower.participants.count == 2)
        follower.apply([
            SampleParticipants.participant("ann"), SampleParticipants.participant("bob", mode: .receiveOnly),
        ])
        #expect(follower.participants.visible.isEmpty)
    }

    @Test("D5 the end of a call removes all participants; positions are stable during it")
    func follow() {
        var follower = ParticipantTracker(identity: "ann", idiom: .phone)
        let all = ["ann", "b", "c", "d", "e", "f", "g"].map { SampleParticipants.participant($0, on: [.camera]) }
        follower.apply(all)
        let before = follower.participants.visible.map(\.id)
        #expect(before.count == 6)
        var speaking = all
        speaking[2] = SampleParticipants.participant("c", on: [.camera], isDominant: true)
        follower.apply(speaking)
        #expect(follower.participants.visible.map(\.id) == before, "who is visible keeps the place")
        follower.apply([])
        #expect(follower.participants.count == 1 && follower.participants.visible.isEmpty)
    }
}
