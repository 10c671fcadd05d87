import FootlightTesting
import Foundation
import Media
import Stage
import Testing

@testable import Recording

@Suite("What is recorded", .serialized) struct RecordedContentTests {
    @Test("every picture and the tone are in the file, which begins at zero and has a fragment per group of pictures")
    func content() async throws {
        let studio = try Studio()
        try studio.begin()
        try await studio.play(Clip.red.value, delayedBy: 3_600_000)
        _ = try await eventually { studio.states.last == .started }
        let files = try await studio.end()
        let file = try #require(files.first)
        #expect(files.count == 1)
        #expect(file.state == .completed)
        #expect(file.part == 1)
        #expect((file.width, file.height) == (320, 180))
        #expect(file.codecs.hasPrefix("avc1.") && file.codecs.hasSuffix(",mp4a.40.2"))
        #expect(abs(file.duration - 7) < 0.05)
        #expect(studio.states == [.starting, .started, .stopping, .stopped])
        #expect(studio.listeners == 0)

        let path = try studio.path(file)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == file.bytes)
        let recording = try await FootlightTesting.Recording(path: path)
        #expect(abs(recording.startTime) < 0.03)
        #expect(recording.packets(.video).count == 210)
        #expect(recording.pictureGroups.map(\.frames) == [60, 60, 60])
        for group in recording.pictureGroups { #expect(abs(group.seconds - 2) < 0.002) }
        #expect(recording.backwardSteps == 0)
        #expect(recording.largestGap(.video) < 0.035)
        let sound = try await recording.sound()
        #expect(sound.toneLevel(frequency: 440, from: 0.5, to: 6.5) > -25)
        #expect(sound.silences().isEmpty)
        for frame in try await recording.pictures(at: [0.1, 3.5, 6.9]) {
            let colour = frame.averageColour(x: 0, y: 0, width: 100, height: 40)
            #expect(abs(Int(colour.red) - 200) < 12 && Int(colour.green) < 40)
        }
        // One fragment for each group that was begun.
        let scan = FragmentScan(path: path)
        #expect(scan.bytes == file.bytes)
        #expect(abs(scan.duration - file.duration) < 0.03)
        #expect(try Self.boxes(of: path) == ["ftyp", "moov"] + (0..<4).flatMap { _ in ["moof", "mdat"] })
    }

    @Test("files rotate at a key picture; nothing is lost, and each plays from its beginning")
    func rotation() async throws {
        let studio = try Studio { $0.fileSeconds = 3 }
        try studio.begin()
        try await studio.play(Clip.red.value)
        let files = try await studio.end()
        #expect(files.map(\.part) == [1, 2])
        #expect(Set(files.map(\.run)).count == 1)
        #expect(studio.rotations == 1)
        var frames = 0
        for (file, seconds) in zip(files, [4.0, 3.0]) {
            let recording = try await FootlightTesting.Recording(path: studio.path(file))
            #expect(abs(recording.startTime) < 0.03)
            #expect(recording.packets(.video).first?.isKey == true)
            #expect(abs(file.duration - seconds) < 0.05)
            frames += recording.packets(.video).count
        }
        #expect(frames == 210)
    }

    @Test("a file that grew to its size ends at the next key picture")
    func sizeRotation() throws {
        var cutter = RecordingCutter(groupSeconds: 2, fileBytes: 1 << 20, fileSeconds: 3600)
        var opened = 0
        for packet in Programme.packets(seconds: 12, pictureBytes: 10_000) {
            opened += cutter.append(packet).count { if case .open = $0 { true } else { false } }
        }
        // 600 kB a group: two of them are beyond the limit.
        #expect(opened == 3)
        #expect(cutter.dropped == 0)
    }

    @Test("another mixer goes on in the same file, and the time it took stays as a gap")
    func takeover() async throws {
        let studio = try Studio()
        try studio.begin()
        let clip = try await Clip.red.value
        studio.play(clip)
        studio.changePublisher()
        studio.play(clip, delayedBy: 7000 + 1300)
        let files = try await studio.end()
        let file = try #require(files.first)
        #expect(files.count == 1)
        let recording = try await FootlightTesting.Recording(path: studio.path(file))
        #expect(recording.packets(.video).count == 420)
        #expect(recording.backwardSteps == 0)
        #expect(abs(recording.largestGap(.video) - 1.333) < 0.05)
        #expect(abs(file.duration - 15.3) < 0.05)
    }

    @Test("another decoder configuration begins another file")
    func otherConfiguration() async throws {
        let studio = try Studio()
        try studio.begin()
        try await studio.play(Clip.red.value)
        studio.changePublisher()
        try await studio.play(Clip.wide.value, delayedBy: 7500)
        let files = try await studio.end()
        #expect(files.map(\.width) == [320, 480])
        let last = try #require(files.last)
        let recording = try await FootlightTesting.Recording(path: studio.path(last))
        #expect(recording.video?.width == 480)
        #expect(recording.packets(.video).count == 210)
        #expect(try await recording.sound().toneLevel(frequency: 880, from: 0.5, to: 6.5) > -25)
    }

    @Test("a program of sound alone is recorded too")
    func soundAlone() async throws {
        let studio = try Studio()
        try studio.begin()
        try await studio.play(Clip.red.value.filter { !$0.isVideo })
        let file = try #require(try await studio.end().first)
        #expect(file.width == nil)
        let recording = try await FootlightTesting.Recording(path: studio.path(file))
        #expect(recording.video == nil)
        #expect(try await recording.sound().toneLevel(frequency: 440, from: 0.5, to: 6.5) > -25)
    }

    /// The types of a file's outermost boxes.
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
