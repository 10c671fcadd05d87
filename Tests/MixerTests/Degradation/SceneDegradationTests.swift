import Codecs
import Stage
import Testing

@testable import Mixer

@Suite("Degraded scenes")
struct SceneDegradationTests {
    private let scene: Scene = {
        let tiles = (0..<6).map { position in
            Tile(
                position: position,
                participantSID: "PA\(position)",
                source: position == 5 ? .screen : .camera,
                rectangle: TileRectangle(x: 0, y: 0, width: 1, height: 1),
                scaleMode: .fill,
                label: "",
                isMicOn: true
            )
        }
        return Scene(tiles: tiles, audible: ["PA0", "PA4"], audio: AudioScene(gains: ["PA4": -6]))
    }()

    private func economies(_ step: Degradation) -> [VideoDecoder.Economy] {
        (0..<7).map { scene.economy(of: "PA\($0)", on: step) }
    }

    @Test("the audio is the same on every step")
    func audio() {
        for step in Degradation.allCases {
            #expect(scene.degraded(to: step).audible == scene.audible)
            #expect(scene.degraded(to: step).audio == scene.audio)
        }
    }

    @Test("the first tiles keep their video, others become cards, and a screen share stays")
    func tiles() {
        for step in Degradation.allCases where step < .fewerTiles { #expect(scene.degraded(to: step) == scene) }
        let sources = scene.degraded(to: .fewerTiles).tiles.map(\.source)
        #expect(sources == [.camera, .camera, .camera, .camera, .placeholder, .screen])
        #expect(scene.degraded(to: .fewerTiles).slate == nil)
    }

    @Test("the last step shows the room's own slate without its music, or a plain one, unless a slate was shown")
    func slate() {
        var own = scene
        own.standIn = Slate(kind: .beRightBack, text: "Technical break", image: "asset:break", music: "asset:song")
        let shown = Slate(kind: .beRightBack, text: "Technical break", image: "asset:break")
        #expect(own.degraded(to: .slate).slate == shown)
        #expect(own.degraded(to: .fewerTiles).slate == nil)
        #expect(scene.degraded(to: .slate).slate == Slate(kind: .beRightBack))
        var ending = scene
        ending.slate = Slate(kind: .ended, text: "Thanks")
        #expect(ending.degraded(to: .slate).slate == ending.slate)
    }

    @Test("the first tile and screens are fully decoded, other tiles less, hidden ones by keyframes")
    func decoding() {
        #expect(economies(.lightestCoding).allSatisfy { $0 == .none })
        let skip = VideoDecoder.Economy.skipDisposable
        #expect(economies(.lighterDecoding) == [.none, skip, skip, skip, skip, .none, skip])
        #expect(economies(.fewerTiles) == [.none, skip, skip, skip, .keyframesOnly, .none, .keyframesOnly])
        #expect(economies(.slate).allSatisfy { $0 == .keyframesOnly })
    }

    @Test("the dominant speaker is fully decoded and keeps video in any tile, instead of the last other one")
    func speaker() {
        var scene = scene
        scene.speaker = "PA4"
        let sources = scene.degraded(to: .fewerTiles).tiles.map(\.source)
        #expect(sources == [.camera, .camera, .camera, .placeholder, .camera, .screen])
        let skip = VideoDecoder.Economy.skipDisposable
        func economies(_ step: Degradation) -> [VideoDecoder.Economy] {
            (0..<6).map { scene.economy(of: "PA\($0)", on: step) }
        }
        #expect(economies(.lighterDecoding) == [.none, skip, skip, skip, .none, .none])
        #expect(economies(.fewerTiles) == [.none, skip, skip, .keyframesOnly, .none, .none])
        #expect(economies(.slate).allSatisfy { $0 == .keyframesOnly })
        // Among the first tiles, or without video, the speaker replaces no other.
        scene.speaker = "PA2"
        #expect(scene.degraded(to: .fewerTiles).tiles.map(\.source)[3...] == [.camera, .placeholder, .screen])
        scene.speaker = "PA4"
        scene.tiles[4].source = .placeholder
        #expect(scene.degraded(to: .fewerTiles).tiles.map(\.source)[3...] == [.camera, .placeholder, .screen])
        scene.speaker = "PA9"
        #expect(scene.economy(of: "PA9", on: .fewerTiles) == .keyframesOnly)
    }
}
