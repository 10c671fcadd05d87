import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

@testable import Recording

@Suite("Recorded content", .enabled(if: TestRun.isFull), .serialized) struct RecordedContentTests {
    @Test("contains every video and audio frame, begins at zero and has a fragment per GOP")
    func content() async throws {
        let fixture = try RecordingFixture()
        try fixture.begin()
        try await fixture.play(EncodedClip.red.value, delayedBy: 3_600_000)
        _ = try await eventually { fixture.states.last == .started }
        let files = try await fixture.end()
        let file = try #require(files.first)
        #expect(files.count == 1)
        #expect(file.state == .completed)
        #expect(file.part == 1)
        #expect((file.width, file.height) == (320, 180))
        #expect(file.codecs.hasPrefix("avc1.") && file.codecs.hasSuffix(",mp4a.40.2"))
        #expect(abs(file.duration - 7) < 0.05)
        #expect(fixture.states == [.starting, .started, .stopping, .stopped])
        #expect(fixture.sinkCount == 0)

        let path = try fixture.path(file)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == file.bytes)
        let recording = try await TestSupport.Recording(path: path)
        #expect(abs(recording.startTime) < 0.03)
        #expect(recording.packets(.video).count == 210)
        #expect(recording.completeGOPs.map(\.frames) == [60, 60, 60])
        for group in recording.completeGOPs { #expect(abs(group.seconds - 2) < 0.002) }
        #expect(recording.backwardSteps == 0)
        #expect(recording.largestGap(.video) < 0.035)
        let audio = try await recording.decodedAudio()
        #expect(audio.toneLevel(frequency: 440, from: 0.5, to: 6.5) > -25)
        #expect(audio.silences().isEmpty)
        for frame in try await recording.frames(at: [0.1, 3.5, 6.9]) {
            let colour = frame.averageColour(x: 0, y: 0, width: 100, height: 40)
            #expect(abs(Int(colour.red) - 200) < 12 && Int(colour.green) < 40)
        }
        // One fragment per GOP.
        let scan = FragmentScanner(path: path)
        #expect(scan.bytes == file.bytes)
        #expect(abs(scan.duration - file.duration) < 0.03)
        #expect(try Self.boxes(of: path) == ["ftyp", "moov"] + (0..<4).flatMap { _ in ["moof", "mdat"] })
    }

    @Test("rotates files at a keyframe without loss")
    func rotation() async throws {
        let fixture = try RecordingFixture { $0.fileSeconds = 3 }
        try fixture.begin()
        try await fixture.play(EncodedClip.red.value)
        let files = try await fixture.end()
        #expect(files.map(\.part) == [1, 2])
        #expect(Set(files.map(\.run)).count == 1)
        #expect(fixture.rotations == 1)
        var frames = 0
        for (file, seconds) in zip(files, [4.0, 3.0]) {
            let recording = try await TestSupport.Recording(path: fixture.path(file))
            #expect(abs(recording.startTime) < 0.03)
            #expect(recording.packets(.video).first?.isKey == true)
            #expect(abs(file.duration - seconds) < 0.05)
            frames += recording.packets(.video).count
        }
        #expect(frames == 210)
    }

    @Test("ends a file at the next keyframe after its size limit")
    func sizeRotation() throws {
        var splitter = RecordingSplitter(gopSeconds: 2, fileBytes: 1 << 20, fileSeconds: 3600)
        var opened = 0
        for packet in SyntheticPackets.packets(seconds: 12, frameBytes: 10_000) {
            opened += splitter.append(packet).count { if case .open = $0 { true } else { false } }
        }
        // 600 kB per GOP: two of them exceed the limit.
        #expect(opened == 3)
        #expect(splitter.dropped == 0)
    }

    @Test("continues the file with another mixer and keeps the gap")
    func takeover() async throws {
        let fixture = try RecordingFixture()
        try fixture.begin()
        let clip = try await EncodedClip.red.value
        fixture.play(clip)
        fixture.changePublisher()
        fixture.play(clip, delayedBy: 7000 + 1300)
        let files = try await fixture.end()
        let file = try #require(files.first)
        #expect(files.count == 1)
        let recording = try await TestSupport.Recording(path: fixture.path(file))
        #expect(recording.packets(.video).count == 420)
        #expect(recording.backwardSteps == 0)
        #expect(abs(recording.largestGap(.video) - 1.333) < 0.05)
        #expect(abs(file.duration - 15.3) < 0.05)
    }

    @Test("starts a file for another decoder configuration")
    func otherConfiguration() async throws {
        let fixture = try RecordingFixture()
        try fixture.begin()
        try await fixture.play(EncodedClip.red.value)
        fixture.changePublisher()
        try await fixture.play(EncodedClip.wide.value, delayedBy: 7500)
        let files = try await fixture.end()
        #expect(files.map(\.width) == [320, 480])
        let last = try #require(files.last)
        let recording = try await TestSupport.Recording(path: fixture.path(last))
        #expect(recording.video?.width == 480)
        #expect(recording.packets(.video).count == 210)
        #expect(try await recording.decodedAudio().toneLevel(frequency: 880, from: 0.5, to: 6.5) > -25)
    }

    @Test("records an audio-only program")
    func audioOnly() async throws {
        let fixture = try RecordingFixture()
        try fixture.begin()
        try await fixture.play(EncodedClip.red.value.filter { !$0.isVideo })
        let file = try #require(try await fixture.end().first)
        #expect(file.width == nil)
        let recording = try await TestSupport.Recording(path: fixture.path(file))
        #expect(recording.video == nil)
        #expect(try await recording.decodedAudio().toneLevel(frequency: 440, from: 0.5, to: 6.5) > -25)
    }

    /// Returns the types of a file's top-level boxes.
    static func boxes(of path: String) throws -> [String] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        var types: [String] = []
        var rest = data[...]
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            types.append(String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self))
            rest = rest.dropFirst(max(size, 8))
        }
        return types
    }
}
