import FootlightTesting
import Foundation
import Stage
import Testing

@Suite("Hosts of every kind", .serialized, .timeLimit(.minutes(2)))
struct OddHostTests {
    /// One host of the show.
    private struct Odd {
        var name: String
        var script: HostScript
        /// Hz; nil for a host without sound.
        var tone: Double?
        /// What its tile shows.
        var colour: Colour
    }

    /// Each sounds at a tenth of full scale, so that all together stay below the limiter.
    private static let amplitude = 0.1

    private static func picture(_ colour: Colour, _ change: (inout HostPicture) -> Void = { _ in }) -> HostPicture {
        var picture = HostPicture(colour)
        (picture.width, picture.height, picture.bitRate, picture.hasMarker) = (640, 360, 600, false)
        change(&picture)
        return picture
    }

    private static func tone(_ frequency: Double, _ change: (inout HostSound) -> Void = { _ in }) -> HostSound {
        var sound = HostSound.tone(frequency)
        sound.amplitude = amplitude
        change(&sound)
        return sound
    }

    private static let hosts: [Odd] = {
        let steady = picture(.green)
        let reordered = picture(.red) { ($0.bFrames, $0.isBT709) = (3, true) }
        let old = picture(.yellow) { ($0.width, $0.height, $0.frameRate, $0.keyInterval) = (480, 360, "25", 50) }
        let full = picture(.blue) { $0.isFullRange = true }
        let mute = picture(Colour(red: 140, green: 60, blue: 160)) { $0.frameRate = "30000/1001" }
        let mono = tone(640) { ($0.sampleRate, $0.channels) = (44_100, 1) }
        return [
            Odd(name: "steady", script: HostScript(picture: steady, sound: tone(400)), tone: 400, colour: .green),
            Odd(name: "b-frames", script: HostScript(picture: reordered, sound: tone(520)), tone: 520, colour: .red),
            Odd(name: "old-world", script: HostScript(picture: old, sound: mono), tone: 640, colour: .yellow),
            Odd(name: "full-range", script: HostScript(picture: full, sound: tone(760)), tone: 760, colour: .blue),
            Odd(name: "sound-only", script: HostScript(picture: nil, sound: tone(880)), tone: 880, colour: .emptyTile),
            Odd(
                name: "picture-only",
                script: HostScript(picture: mute, sound: nil),
                tone: nil,
                colour: Colour(red: 140, green: 60, blue: 160)
            ),
        ]
    }()

    @Test("Each is seen in its tile in its colour and heard with its tone, whatever it sends")
    func everyKind() async throws {
        let stage = try await FaultStage(room: "odd")
        // Before anybody joins: encoding takes all of the machine, and the first host starts the mixer.
        var clips: [String] = []
        for host in Self.hosts { clips.append(try await stage.clip(host.script)) }
        // The last one is switched from wide to upright after seven seconds.
        let grey = Self.picture(.grey)
        let cyan = Self.picture(Colour(red: 40, green: 180, blue: 190)) { ($0.width, $0.height) = (360, 640) }
        let change = stage.folder.file("change.flv")
        try await FFmpeg.encode(
            HostScript(picture: grey, sound: Self.tone(1000)),
            then: HostScript(picture: cyan, sound: Self.tone(1000)),
            seconds: 7,
            to: change
        )

        var seats: [FaultStage.Seat] = []
        var encoders: [ChildProcess] = []
        for (host, clip) in zip(Self.hosts, clips) {
            let seat = try await stage.join(host.name)
            encoders.append(try stage.publish(clip, as: seat))
            seats.append(seat)
        }
        let changing = try await stage.join("changing")
        try await stage.waitUntilOnAir()
        let changed = try stage.publish(change, as: changing, isLooped: false)
        try await Task.sleep(for: .seconds(2.5))
        let path = stage.folder.file("program.flv")
        let recorder = try FFmpeg.record(stage.gateway.rtmpURL(room: stage.room), seconds: 8, to: path)
        let rectangles = try await places(of: seats + [changing], on: stage)
        let recording = try await recorder.finish()
        #expect(encoders.allSatisfy { $0.isRunning } && changed.isRunning)

        #expect(recording.backwardSteps == 0)
        // Sound is never left out; of pictures a slow machine may leave out some, which are whole ones then.
        #expect(recording.largestGap(.audio) < 0.04)
        #expect(recording.unevenSteps().isEmpty && recording.largestGap(.video) < 1, "\(recording.unevenSteps())")
        #expect(recording.frameRate > 15 && recording.frameRate < 30.1, "\(recording.frameRate)")
        let frames = try await recording.pictures(at: [1, 4, 7.5])
        for (index, host) in Self.hosts.enumerated() {
            for frame in frames {
                guard host.script.picture != nil else {
                    checkCard(frame, in: rectangles[index], host.name)
                    continue
                }
                let colour = frame.colour(of: rectangles[index])
                #expect(colour.distance(to: host.colour) <= 8, "\(host.name) is \(colour), not \(host.colour)")
            }
        }
        let before = frames[0].colour(of: rectangles[6])
        let after = frames[2].colour(of: rectangles[6])
        #expect(before.distance(to: .grey) <= 8, "\(before)")
        #expect(after.distance(to: Colour(red: 40, green: 180, blue: 190)) <= 8, "\(after)")
        try await checkSound(recording)
    }

    /// Whoever has no picture has a card: a disc with an initial, of 0.42 of the tile's width, on the tile's colour.
    ///
    /// The disc has a seventh of what lies within the edges, so the tile as a whole is by about 12 lighter than bare.
    private func checkCard(_ frame: PictureFrame, in tile: TileRectangle, _ name: String) {
        let above = TileRectangle(x: tile.x, y: tile.y, width: tile.width, height: tile.height / 4)
        for (part, colour) in [("above", frame.colour(of: above)), ("beside", beside(frame, tile))] {
            #expect(colour.distance(to: .emptyTile) <= 8, "\(part) the disc of \(name) is \(colour)")
        }
        // Within the disc, left of the letter.
        let disc = frame.averageColour(x: tile.x + 102, y: tile.y + 143, width: 16, height: 20)
        #expect(disc.distance(to: .emptyTile) >= 30, "the disc of \(name) is \(disc)")
    }

    private func beside(_ frame: PictureFrame, _ tile: TileRectangle) -> Colour {
        frame.averageColour(x: tile.x + 16, y: tile.y + 16, width: 60, height: tile.height - 32)
    }

    private func places(of seats: [FaultStage.Seat], on stage: FaultStage) async throws -> [TileRectangle] {
        var rectangles: [TileRectangle] = []
        for seat in seats { rectangles.append(try #require(try await stage.tile(of: seat), "\(seat.identity)")) }
        #expect(rectangles.map(\.x) == [0, 322, 644, 966, 160, 482, 804])
        #expect(rectangles.map(\.y) == [0, 0, 0, 0, 364, 364, 364])
        #expect(rectangles.allSatisfy { $0.width == 314 && $0.height == 356 })
        return rectangles
    }

    private func checkSound(_ recording: Recording) async throws {
        let sound = try await recording.sound()
        for (name, tone) in Self.hosts.map({ ($0.name, $0.tone) }) + [("changing", 1000)] {
            guard let tone else { continue }
            let level = sound.toneLevel(frequency: tone, from: 0.5, to: 7)
            #expect(abs(level + 20) < 1, "\(name) is heard at \(level) dB")
        }
        #expect(sound.toneLevel(frequency: 460, from: 0.5, to: 7) < -50)
        #expect(sound.silences().isEmpty)
        #expect(sound.clicks().isEmpty)
    }
}
