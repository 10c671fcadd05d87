import FootlightClient
import Stage
import Testing

@Suite("What is drawn in a tile, and where tiles go")
struct TileTests {
    @Test("D28 a screen stands in for the camera, and the camera comes back")
    func screen() {
        let content = { (tracks: [TrackName]) in TileContent(Played.participant("bob", on: tracks)).picture }
        #expect(content([.camera]) == .video(.camera))
        #expect(content([.camera, .screen]) == .video(.screen))
        #expect(content([.screen]) == .video(.screen))
        #expect(content([.camera]) == .video(.camera))
    }

    @Test("D29 screens and the local preview are fitted, other cameras fill; the preview keeps the camera's shape")
    func scale() {
        let remote = Played.participant("bob", on: [.camera])
        let screen = Played.participant("bob", on: [.camera, .screen])
        #expect(TileContent(remote).scaleMode == .fill && TileContent(screen).scaleMode == .fit)
        #expect(TileContent(remote, isLocal: true).scaleMode == .fit)
        let portrait = LocalPreview(orientation: .portrait, camera: .front)
        #expect(portrait.aspectRatio == 0.5625 && portrait.scaleMode == .fit)
        let landscape = LocalPreview(orientation: .landscape, camera: .front)
        #expect(landscape.aspectRatio > 1.77 && landscape.aspectRatio < 1.78)
    }

    @Test("D30 only the local camera that faces the user is mirrored")
    func mirrored() {
        let camera = Played.participant("bob", on: [.camera])
        let screen = Played.participant("bob", on: [.screen])
        #expect(TileContent(camera, isLocal: true, camera: .front).isMirrored)
        #expect(!TileContent(camera, isLocal: true, camera: .back).isMirrored)
        #expect(!TileContent(camera, camera: .front).isMirrored)
        #expect(!TileContent(screen, isLocal: true, camera: .front).isMirrored)
        #expect(LocalPreview(orientation: .portrait, camera: .front).isMirrored)
        #expect(!LocalPreview(orientation: .portrait, camera: .back).isMirrored)
    }

    @Test("L8 V8 V9 without a picture stand a note, the name and the participant's own picture, for hosts heard or not")
    func placeholder() {
        let host = TileContent(Played.participant("bob", on: [.mic], name: "Bob", avatar: "asset:bob"))
        #expect(host.picture == .placeholder(.init(note: "No media", name: "Bob", avatar: "asset:bob")))
        #expect(host.label == "Bob" && host.isMicOn, "V8: name and microphone")
        let silent = TileContent(Played.participant("bob", disabled: [.camera], name: "Bob"))
        #expect(silent.picture == .placeholder(.init(note: "No media", name: "Bob")) && !silent.isMicOn)
        let viewer = TileContent(Played.participant("eve", mode: .receiveOnly, on: [.camera, .mic], name: "Eve"))
        #expect(viewer.picture == .placeholder(.init(note: "Viewer", name: "Eve")) && !viewer.isMicOn)
        let signalling = TileContent(Played.participant("max", mode: .signallingOnly, name: "Max"))
        #expect(signalling.picture == .placeholder(.init(name: "Max")))
        #expect(TileContent(Played.participant("x", name: "")).label == "Guest", "D8")
    }

    @Test("L9 the strip's badge says who cannot be heard")
    func badge() {
        #expect(TileContent(Played.participant("bob")).showsMuteBadge)
        #expect(TileContent(Played.participant("bob", disabled: [.mic])).showsMuteBadge)
        #expect(!TileContent(Played.participant("bob", on: [.mic])).showsMuteBadge)
    }

    @Test("L7 the first fills the stage, fitted; the others stand in the strip in the same order")
    func stage() {
        let three = SpeakerStage(["a", "b", "c"])
        #expect(three.stage == "a" && three.strip == ["b", "c"] && three.scaleMode == .fit && three.hasStrip)
        #expect(SpeakerStage(["a"]).stage == "a" && !SpeakerStage(["a"]).hasStrip)
        #expect(SpeakerStage([String]()).stage == nil)
    }

    @Test("T20 large is who speaks, else who spoke last and is there, else the first of the others, else oneself")
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

    @Test("T19 oneself first, newcomers on the last page; who speaks off the page takes the oldest speaker's place")
    func gallery() {
        var gallery = GalleryPages(local: "me")
        gallery.take(["a", "b", "c", "d", "e", "f", "g"])
        #expect(gallery.pages == [["me", "a", "b", "c", "d", "e"], ["f", "g"]])
        for speaker in ["b", "a", "c", "d", "e"] { gallery.setDominant(speaker) }
        #expect(gallery.pages[0] == ["me", "a", "b", "c", "d", "e"], "speakers on the page stay")
        gallery.setDominant("g")
        #expect(gallery.pages == [["me", "a", "g", "c", "d", "e"], ["b", "f"]])
        gallery.setDominant(nil)
        gallery.setDominant("me")
        gallery.setDominant("f")
        #expect(gallery.pages == [["me", "f", "g", "c", "d", "e"], ["a", "b"]], "never oneself")
        gallery.take(["b", "c", "d", "e", "f", "g", "h"])
        #expect(gallery.pages == [["me", "f", "g", "c", "d", "e"], ["b", "h"]], "a left, h came last")
    }

    @Test("L13 who is in view, and how large")
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
