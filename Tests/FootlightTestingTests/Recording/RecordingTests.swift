import FootlightTesting
import Media
import Testing

@Suite("A recording of known media is read right") struct RecordingTests {
    @Test("Streams, frame rate, groups of pictures, gaps")
    func timing() async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript(.red, tone: 440)
        script.picture?.width = 320
        script.picture?.height = 240
        script.picture?.frameRate = "25"
        script.picture?.keyInterval = 50
        script.picture?.bFrames = 2
        script.sound?.sampleRate = 44_100
        script.sound?.channels = 1
        try await FFmpeg.encode(script, seconds: 6.5, to: folder.file("a.flv"))
        let recording = try await Recording(path: folder.file("a.flv"))

        let video = try #require(recording.video)
        #expect(video.codec == "h264" && video.width == 320 && video.height == 240 && video.reorderedFrames == 2)
        let audio = try #require(recording.audio)
        #expect(audio.codec == "aac" && audio.sampleRate == 44_100 && audio.channels == 1)
        #expect(abs(recording.frameRate - 25) < 0.01)
        #expect(recording.pictureGroups.map(\.frames) == [50, 50, 50])
        #expect(recording.pictureGroups.allSatisfy { abs($0.seconds - 2) < 0.0011 })
        #expect(recording.largestGap(.video) < 0.042)
        #expect(recording.largestGap(.audio) < 0.026)
        #expect(recording.backwardSteps == 0)
        #expect(abs(recording.duration(.video) - 6.48) < 0.01)
    }

    @Test("A hole and a step back in the timestamps are seen")
    func brokenTiming() async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript(.red, tone: 440)
        script.sound = nil
        script.picture?.width = 160
        script.picture?.height = 120
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
        "Colours where they are, in both ranges and matrices",
        arguments: [(false, false), (true, false), (true, true)]
    )
    func colours(isFullRange: Bool, isBT709: Bool) async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript(.green, tone: 440)
        script.picture?.width = 640
        script.picture?.height = 360
        script.picture?.isFullRange = isFullRange
        script.picture?.isBT709 = isBT709
        script.picture?.hasFrameNumber = true
        try await FFmpeg.encode(script, seconds: 2, to: folder.file("a.mkv"))
        let recording = try await Recording(path: folder.file("a.mkv"))
        let video = try #require(recording.video)
        #expect(video.colourRange == (isFullRange ? "pc" : "tv") || (!isFullRange && video.colourRange.isEmpty))
        #expect(!isBT709 || video.colourMatrix == "bt709")

        // The encoder of the sound begins a frame of 21 ms before the picture.
        let pictures = try await recording.pictures(at: [0.04, 1.04, 1.54])
        #expect(pictures[0].width == 640 && pictures[0].height == 360)
        let ground = pictures[1].averageColour(x: 8, y: 8, width: 620, height: 100)
        #expect(ground.distance(to: .green) < 6, "\(ground)")
        // The marker runs 5 pixels a frame from the left edge, its top at three quarters of the height.
        let marker = pictures[1].averageColour(x: 30 * 5 + 10, y: 280, width: 20, height: 20)
        #expect(marker.distance(to: .white) < 12, "\(marker)")
        #expect(pictures.map { $0.frameNumber() } == [0, 30, 45])
        #expect(abs(pictures[2].time - 1.521) < 0.002)
    }

    @Test("All pictures, small, in their order, with B-frames and a start that is not zero")
    func allPictures() async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript(picture: HostPicture(.blue), sound: nil)
        script.picture?.width = 320
        script.picture?.height = 180
        script.picture?.bFrames = 2
        script.picture?.hasFrameNumber = true
        try await FFmpeg.encode(script, seconds: 2, to: folder.file("a.flv"))
        var file = try FLVFile(path: folder.file("a.flv"))
        for index in file.tags.indices { file.tags[index].timestamp += 5000 }
        try file.write(to: folder.file("b.flv"))
        let recording = try await Recording(path: folder.file("b.flv"))
        #expect(recording.startTime >= 5)
        let pictures = try await recording.allPictures(width: 320, height: 180)
        #expect(pictures.map { $0.frameNumber() } == (0..<60).map { $0 })
        #expect(zip(pictures, pictures.dropFirst()).allSatisfy { abs($1.time - $0.time - 1.0 / 30) < 0.0015 })
        #expect(try await recording.picture(at: 1).frameNumber() == 30)
    }

    @Test("Tones in the sound, of one channel and of all")
    func tones() async throws {
        let folder = try TemporaryFolder("recording")
        try await FFmpeg.encode(HostScript(picture: nil, sound: .tone(440)), seconds: 3, to: folder.file("a.flv"))
        let recording = try await Recording(path: folder.file("a.flv"))
        #expect(recording.video == nil)
        for channel in [nil, 0, 1] {
            let sound = try await recording.sound(channel: channel)
            #expect(abs(sound.toneLevel(frequency: 440, from: 0.5, to: 2.5) - -12.04) < 0.3)
            #expect(sound.toneLevel(frequency: 880, from: 0.5, to: 2.5) < -55)
            #expect(sound.clicks().isEmpty)
            #expect(sound.silences().allSatisfy { $0.lowerBound < 0.1 || $0.upperBound > 2.9 })
        }
        await #expect(throws: ToolFailure.self) { try await recording.sound(channel: 2) }
    }

    @Test("A host that changes its size on air, in one file")
    func sizeChange() async throws {
        let folder = try TemporaryFolder("recording")
        var first = HostScript(.red, tone: 440)
        first.picture?.width = 320
        first.picture?.height = 240
        var second = HostScript(.blue, tone: 440)
        second.picture?.width = 640
        second.picture?.height = 360
        try await FFmpeg.encode(first, then: second, seconds: 1, to: folder.file("a.flv"))
        let file = try FLVFile(path: folder.file("a.flv"))
        #expect(file.packets.count { $0.content == .videoConfiguration(.h264) } == 2)
        #expect(file.packets.count { $0.content == .audioConfiguration(.aac) } == 2)
        let recording = try await Recording(path: folder.file("a.flv"))
        #expect(recording.packets(.video).count == 60)
        #expect(recording.backwardSteps == 0)
        let pictures = try await recording.allPictures()
        let colours = [pictures[10], pictures[50]].map { $0.averageColour(x: 0, y: 0, width: 160, height: 40) }
        #expect(colours[0].distance(to: .red) < 8 && colours[1].distance(to: .blue) < 8, "\(colours)")
    }

    @Test("The delay of a beep behind its flash, as made and shifted both ways", arguments: [0.0, 0.12, -0.08])
    func beepDelay(shift: Double) async throws {
        let folder = try TemporaryFolder("recording")
        var script = HostScript.flashAndBeep()
        script.picture?.width = 320
        script.picture?.height = 180
        try await FFmpeg.encode(script, seconds: 4.5, to: folder.file("a.flv"))
        var file = try FLVFile(path: folder.file("a.flv"))
        for index in file.tags.indices {
            let isSound = file.tags[index].type == 8
            file.tags[index].timestamp += 1000 + (isSound ? Int64(shift * 1000) : 0)
        }
        try file.write(to: folder.file("b.flv"))
        let delays = try await Recording(path: folder.file("b.flv")).beepDelays()
        #expect(delays.count >= 3)
        #expect(delays.allSatisfy { abs($0 - shift * 1000) < 8 }, "\(delays)")
    }

    @Test("A file without media is refused")
    func noMedia() async throws {
        let folder = try TemporaryFolder("recording")
        let path = try folder.write("nothing", to: "a.flv")
        await #expect(throws: ToolFailure.self) { try await Recording(path: path) }
    }
}
