import Foundation
import Stage
import TestSupport
import Testing

@Suite("Hosts with unusual formats", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct HostFormatTests {
    /// A host with its expected output.
    private struct HostCase {
        var name: String
        var script: HostScript
        /// The tone in Hz; nil without audio.
        var tone: Double?
        /// The colour of the tile.
        var colour: Colour
    }

    /// The amplitude of each tone, low enough to stay below the limiter together.
    private static let amplitude = 0.1

    private static func video(
        _ colour: Colour,
        _ change: (inout HostVideoScript) -> Void = { _ in }
    ) -> HostVideoScript {
        var video = HostVideoScript(colour)
        (video.width, video.height, video.bitRate, video.hasMarker) = (640, 360, 600, false)
        change(&video)
        return video
    }

    private static func tone(
        _ frequency: Double,
        _ change: (inout HostAudioScript) -> Void = { _ in }
    ) -> HostAudioScript {
        var audio = HostAudioScript.tone(frequency)
        audio.amplitude = amplitude
        change(&audio)
        return audio
    }

    private static let hosts: [HostCase] = {
        let steady = video(.green)
        let reordered = video(.red) { ($0.bFrames, $0.isBT709) = (3, true) }
        let old = video(.yellow) { ($0.width, $0.height, $0.frameRate, $0.keyInterval) = (480, 360, "25", 50) }
        let full = video(.blue) { $0.isFullRange = true }
        let mute = video(Colour(red: 140, green: 60, blue: 160)) { $0.frameRate = "30000/1001" }
        let mono = tone(640) { ($0.sampleRate, $0.channels) = (44_100, 1) }
        return [
            HostCase(name: "steady", script: HostScript(video: steady, audio: tone(400)), tone: 400, colour: .green),
            HostCase(
                name: "b-frames",
                script: HostScript(video: reordered, audio: tone(520)),
                tone: 520,
                colour: .red
            ),
            HostCase(name: "old-world", script: HostScript(video: old, audio: mono), tone: 640, colour: .yellow),
            HostCase(name: "full-range", script: HostScript(video: full, audio: tone(760)), tone: 760, colour: .blue),
            HostCase(
                name: "audio-only",
                script: HostScript(video: nil, audio: tone(880)),
                tone: 880,
                colour: .emptyTile
            ),
            HostCase(
                name: "video-only",
                script: HostScript(video: mute, audio: nil),
                tone: nil,
                colour: Colour(red: 140, green: 60, blue: 160)
            ),
        ]
    }()

    @Test("shows each host's colour in its tile and mixes its tone, for every format")
    func everyKind() async throws {
        let stage = try await RoomFixture(room: "odd")
        // Encoded before the first join, because encoding takes all processors and the first host starts the mixer.
        var clips: [String] = []
        for host in Self.hosts { clips.append(try await stage.clip(host.script)) }
        // The last host changes from landscape to portrait after seven seconds.
        let grey = Self.video(.grey)
        let cyan = Self.video(Colour(red: 40, green: 180, blue: 190)) { ($0.width, $0.height) = (360, 640) }
        let change = stage.folder.file("change.flv")
        try await FFmpeg.encode(
            HostScript(video: grey, audio: Self.tone(1000)),
            then: HostScript(video: cyan, audio: Self.tone(1000)),
            seconds: 7,
            to: change
        )

        var participants: [RoomFixture.Participant] = []
        var encoders: [ChildProcess] = []
        for (host, clip) in zip(Self.hosts, clips) {
            let participant = try await stage.join(host.name)
            encoders.append(try stage.publish(clip, as: participant))
            participants.append(participant)
        }
        let changing = try await stage.join("changing")
        try await stage.waitUntilOnAir()
        let changed = try stage.publish(change, as: changing, isLooped: false)
        try await Task.sleep(for: .seconds(2.5))
        let path = stage.folder.file("program.flv")
        let recorder = try FFmpeg.record(stage.gateway.rtmpURL(room: stage.room), seconds: 8, to: path)
        let rectangles = try await places(of: participants + [changing], on: stage)
        let recording = try await recorder.finish()
        #expect(encoders.allSatisfy { $0.isRunning } && changed.isRunning)

        #expect(recording.backwardSteps == 0)
        // Audio is never dropped; a slow machine may drop whole video frames.
        #expect(recording.largestGap(.audio) < 0.04)
        #expect(recording.unevenSteps().isEmpty && recording.largestGap(.video) < 1, "\(recording.unevenSteps())")
        #expect(recording.frameRate > 15 && recording.frameRate < 30.1, "\(recording.frameRate)")
        let frames = try await recording.frames(at: [1, 4, 7.5])
        for (index, host) in Self.hosts.enumerated() {
            for frame in frames {
                guard host.script.video != nil else {
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
        try await checkAudio(recording)
    }

    /// Expects a host without video to have a card: a disc of 0.42 of the tile's width on the tile's colour.
    ///
    /// The disc covers a seventh of the inner area, which makes the mean about 12 lighter.
    private func checkCard(_ frame: RGBFrame, in tile: TileRectangle, _ name: String) {
        let above = TileRectangle(x: tile.x, y: tile.y, width: tile.width, height: tile.height / 4)
        for (part, colour) in [("above", frame.colour(of: above)), ("beside", beside(frame, tile))] {
            #expect(colour.distance(to: .emptyTile) <= 8, "\(part) the disc of \(name) is \(colour)")
        }
        // Within the disc, left of the letter.
        let disc = frame.averageColour(x: tile.x + 102, y: tile.y + 143, width: 16, height: 20)
        #expect(disc.distance(to: .emptyTile) >= 30, "the disc of \(name) is \(disc)")
    }

    private func beside(_ frame: RGBFrame, _ tile: TileRectangle) -> Colour {
        frame.averageColour(x: tile.x + 16, y: tile.y + 16, width: 60, height: tile.height - 32)
    }

    private func places(
        of participants: [RoomFixture.Participant],
        on stage: RoomFixture
    ) async throws -> [TileRectangle] {
        var rectangles: [TileRectangle] = []
        for participant in participants {
            rectangles.append(try #require(try await stage.tile(of: participant), "\(participant.identity)"))
        }
        #expect(rectangles.map(\.x) == [0, 322, 644, 966, 160, 482, 804])
        #expect(rectangles.map(\.y) == [0, 0, 0, 0, 364, 364, 364])
        #expect(rectangles.allSatisfy { $0.width == 314 && $0.height == 356 })
        return rectangles
    }

    private func checkAudio(_ recording: Recording) async throws {
        let audio = try await recording.decodedAudio()
        for (name, tone) in Self.hosts.map({ ($0.name, $0.tone) }) + [("changing", 1000)] {
            guard let tone else { continue }
            let level = audio.toneLevel(frequency: tone, from: 0.5, to: 7)
            #expect(abs(level + 20) < 1, "\(name) has a level of \(level) dB")
        }
        #expect(audio.toneLevel(frequency: 460, from: 0.5, to: 7) < -50)
        #expect(audio.silences().isEmpty)
        #expect(audio.clicks().isEmpty)
    }
}
