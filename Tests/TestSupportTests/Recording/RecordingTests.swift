import Foundation
import Media
import TestSupport
import Testing

@Suite("Recording analysis", .enabled(if: TestRun.isFull)) struct RecordingTests {
    @Test("reads streams, frame rate, GOPs and gaps")
    func timing() async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript(.red, tone: 440)
        script.video?.width = 320
        script.video?.height = 240
        script.video?.frameRate = "25"
        script.video?.keyInterval = 50
        script.video?.bFrames = 2
        script.audio?.sampleRate = 44_100
        script.audio?.channels = 1
        try await FFmpeg.encode(script, seconds: 6.5, to: folder.file("a.flv"))
        let recording = try await Recording(path: folder.file("a.flv"))

        let video = try #require(recording.video)
        #expect(video.codec == "h264" && video.width == 320 && video.height == 240 && video.reorderedFrames == 2)
        let audio = try #require(recording.audio)
        #expect(audio.codec == "aac" && audio.sampleRate == 44_100 && audio.channels == 1)
        #expect(abs(recording.frameRate - 25) < 0.01)
        #expect(recording.completeGOPs.map(\.frames) == [50, 50, 50])
        #expect(recording.completeGOPs.allSatisfy { abs($0.seconds - 2) < 0.0011 })
        #expect(recording.largestGap(.video) < 0.042)
        #expect(recording.largestGap(.audio) < 0.026)
        #expect(recording.backwardSteps == 0)
        #expect(abs(recording.duration(.video) - 6.48) < 0.01)
    }

    @Test("detects a gap and a backward step in the timestamps")
    func brokenTiming() async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript(.red, tone: 440)
        script.audio = nil
        script.video?.width = 160
        script.video?.height = 120
        try await FFmpeg.encode(script, seconds: 3, to: folder.file("a.flv"))
        var file = try FLVFile(path: folder.file("a.flv"))
        for index in file.tags.indices.dropFirst(60) { file.tags[index].timestamp += 700 }
        file.tags[40].timestamp -= 100
        try file.write(to: folder.file("b.flv"))
        let recording = try await Recording(path: folder.file("b.flv"))
        #expect(recording.backwardSteps == 1)
        #expect(abs(recording.largestGap(.video) - 0.733) < 0.002)
    }

    @Test(
        "reads colours and positions in both ranges and matrices",
        arguments: [(false, false), (true, false), (true, true)]
    )
    func colours(isFullRange: Bool, isBT709: Bool) async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript(.green, tone: 440)
        script.video?.width = 640
        script.video?.height = 360
        script.video?.isFullRange = isFullRange
        script.video?.isBT709 = isBT709
        script.video?.hasFrameNumber = true
        try await FFmpeg.encode(script, seconds: 2, to: folder.file("a.mkv"))
        let recording = try await Recording(path: folder.file("a.mkv"))
        let video = try #require(recording.video)
        #expect(video.colourRange == (isFullRange ? "pc" : "tv") || (!isFullRange && video.colourRange.isEmpty))
        #expect(!isBT709 || video.colourMatrix == "bt709")

        // The audio begins one frame of 21 ms before the video.
        let frames = try await recording.frames(at: [0.04, 1.04, 1.54])
        #expect(frames[0].width == 640 && frames[0].height == 360)
        let background = frames[1].averageColour(x: 8, y: 8, width: 620, height: 100)
        #expect(background.distance(to: .green) < 6, "\(background)")
        // The marker moves 5 pixels per frame from the left edge, its top at three quarters of the height.
        let marker = frames[1].averageColour(x: 30 * 5 + 10, y: 280, width: 20, height: 20)
        #expect(marker.distance(to: .white) < 12, "\(marker)")
        #expect(frames.map { $0.frameNumber() } == [0, 30, 45])
        #expect(abs(frames[2].time - 1.521) < 0.002)
    }

    @Test("reads all frames scaled and in order, with B-frames and a start time above zero")
    func allFrames() async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript(video: HostVideoScript(.blue), audio: nil)
        script.video?.width = 320
        script.video?.height = 180
        script.video?.bFrames = 2
        script.video?.hasFrameNumber = true
        try await FFmpeg.encode(script, seconds: 2, to: folder.file("a.flv"))
        var file = try FLVFile(path: folder.file("a.flv"))
        for index in file.tags.indices { file.tags[index].timestamp += 5000 }
        try file.write(to: folder.file("b.flv"))
        let recording = try await Recording(path: folder.file("b.flv"))
        #expect(recording.startTime >= 5)
        let frames = try await recording.allFrames(width: 320, height: 180)
        #expect(frames.map { $0.frameNumber() } == (0..<60).map { $0 })
        #expect(zip(frames, frames.dropFirst()).allSatisfy { abs($1.time - $0.time - 1.0 / 30) < 0.0015 })
        #expect(try await recording.frame(at: 1).frameNumber() == 30)
    }

    @Test("detects tones in one channel and in all")
    func tones() async throws {
        let folder = try TemporaryFolder("recording")
        try await FFmpeg.encode(HostScript(video: nil, audio: .tone(440)), seconds: 3, to: folder.file("a.flv"))
        let recording = try await Recording(path: folder.file("a.flv"))
        #expect(recording.video == nil)
        for channel in [nil, 0, 1] {
            let audio = try await recording.decodedAudio(channel: channel)
            #expect(abs(audio.toneLevel(frequency: 440, from: 0.5, to: 2.5) - -12.04) < 0.3)
            #expect(audio.toneLevel(frequency: 880, from: 0.5, to: 2.5) < -55)
            #expect(audio.clicks().isEmpty)
            #expect(audio.silences().allSatisfy { $0.lowerBound < 0.1 || $0.upperBound > 2.9 })
        }
        await #expect(throws: ToolFailure.self) { try await recording.decodedAudio(channel: 2) }
    }

    @Test("encodes a host that changes its size on air into one file")
    func sizeChange() async throws {
        let folder = try TemporaryFolder("recording")
        var first = HostScript(.red, tone: 440)
        first.video?.width = 320
        first.video?.height = 240
        var second = HostScript(.blue, tone: 440)
        second.video?.width = 640
        second.video?.height = 360
        try await FFmpeg.encode(first, then: second, seconds: 1, to: folder.file("a.flv"))
        let file = try FLVFile(path: folder.file("a.flv"))
        #expect(file.packets.count { $0.content == .videoConfiguration(.h264) } == 2)
        #expect(file.packets.count { $0.content == .audioConfiguration(.aac) } == 2)
        let recording = try await Recording(path: folder.file("a.flv"))
        #expect(recording.packets(.video).count == 60)
        #expect(recording.backwardSteps == 0)
        let frames = try await recording.allFrames()
        let colours = [frames[10], frames[50]].map { $0.averageColour(x: 0, y: 0, width: 160, height: 40) }
        #expect(colours[0].distance(to: .red) < 8 && colours[1].distance(to: .blue) < 8, "\(colours)")
    }

    @Test("measures the delay of a beep relative to its flash in both directions", arguments: [0.0, 0.12, -0.08])
    func beepDelay(shift: Double) async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript.flashAndBeep()
        script.video?.width = 320
        script.video?.height = 180
        try await FFmpeg.encode(script, seconds: 4.5, to: folder.file("a.flv"))
        var file = try FLVFile(path: folder.file("a.flv"))
        for index in file.tags.indices {
            let isAudio = file.tags[index].type == 8
            file.tags[index].timestamp += 1000 + (isAudio ? Int64(shift * 1000) : 0)
        }
        try file.write(to: folder.file("b.flv"))
        let delays = try await Recording(path: folder.file("b.flv")).beepDelays()
        #expect(delays.count >= 3)
        #expect(delays.allSatisfy { abs($0 - shift * 1000) < 8 }, "\(delays)")
    }

    @Test("rejects a file without media")
    func noMedia() async throws {
        let folder = try TemporaryFolder("recording")
        let path = try folder.write("nothing", to: "a.flv")
        await #expect(throws: ToolFailure.self) { try await Recording(path: path) }
    }
}

@Suite("Decoded audio") struct DecodedAudioTests {
    /// Returns a sine wave at 48 kHz.
    private func tone(_ frequency: Double, amplitude: Double, seconds: Double) -> [Float] {
        (0..<Int(seconds * 48_000)).map { Float(amplitude * sin(2 * .pi * frequency * Double($0) / 48_000)) }
    }

    @Test("measures the level of a tone, also beside another one")
    func toneLevels() {
        let both = zip(tone(440, amplitude: 0.5, seconds: 2), tone(880, amplitude: 0.1, seconds: 2)).map { $0 + $1 }
        let track = DecodedAudio(startTime: 1, samples: both)
        #expect(abs(track.toneLevel(frequency: 440) - -6.02) < 0.1)
        #expect(abs(track.toneLevel(frequency: 880, from: 1.5, to: 2.5) - -20) < 0.1)
        #expect(track.toneLevel(frequency: 660) < -60)
        #expect(track.toneLevel(frequency: 440, from: 5) == -200)
    }

    @Test("measures a tone slightly beside its frequency")
    func nearbyTone() {
        let track = DecodedAudio(samples: tone(440.4, amplitude: 0.5, seconds: 3))
        #expect(abs(track.toneLevel(frequency: 440) - -6.02) < 0.1)
        #expect(abs(track.level() - -6.02) < 0.1)
        #expect(abs(track.peak - -6.02) < 0.1)
    }

    @Test("finds silence")
    func silence() throws {
        let audio = tone(440, amplitude: 0.3, seconds: 1)
        let track = DecodedAudio(startTime: 2, samples: audio + [Float](repeating: 0, count: 12_000) + audio)
        let found = track.silences()
        #expect(found.count == 1)
        let gap = try #require(found.first)
        #expect(abs(gap.lowerBound - 3) < 0.011 && abs(gap.upperBound - 3.25) < 0.011)
        #expect(DecodedAudio(samples: audio).silences().isEmpty)
    }

    @Test("detects discontinuities, but not tones or fades")
    func clicks() throws {
        let audio = tone(1000, amplitude: 0.5, seconds: 1)
        #expect(DecodedAudio(samples: audio).clicks().isEmpty)
        var interrupted = audio
        interrupted.replaceSubrange(24_012..<24_500, with: [Float](repeating: 0, count: 488))
        let found = DecodedAudio(startTime: 10, samples: interrupted).clicks()
        #expect(found.count == 2)
        #expect(abs(try #require(found.first) - 10.50025) < 0.001)
        let fade = audio.enumerated().map { $1 * max(0, 1 - Float($0) / 480) }
        #expect(DecodedAudio(samples: fade).clicks().isEmpty)
    }
}
