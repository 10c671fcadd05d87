import Testing

@testable import Stage

@Suite("Livestream options")
struct LivestreamOptionsTests {
    @Test("D36 the defaults are 1920x1080 at 30, 5000 and 128 kb/s, three hours, five idle minutes")
    func defaults() throws {
        let options = LivestreamOptions()
        try options.validate()
        #expect([options.effectiveWidth, options.effectiveHeight] == [1920, 1080])
        #expect(options.effectiveFrameRate == FrameRate(30))
        #expect([options.effectiveVideoBitrate, options.effectiveAudioBitrate] == [5000, 128])
        #expect([options.maximumDuration, options.minimumIdleTimeout] == [10_800, 300])
    }

    @Test(
        "D36 the video rate suits the quality",
        arguments: [("1080p", 5000), ("720p", 3000), ("480p", 2000), ("360p", 1000)]
    )
    func rates(quality: String, rate: Int) throws {
        let quality = try #require(ProgramQuality(rawValue: quality))
        #expect(LivestreamOptions(quality: quality).effectiveVideoBitrate == rate)
        // Asked for by size alone, in either orientation.
        let landscape = LivestreamOptions(width: quality.width, height: quality.height)
        #expect(landscape.effectiveVideoBitrate == rate)
        let portrait = LivestreamOptions(width: quality.height, height: quality.width)
        #expect(portrait.effectiveVideoBitrate == rate)
        try portrait.validate()
    }

    @Test(
        "D36 the video bitrate grows with pixels and frame rate within its bounds",
        arguments: [
            (1920, 1080, 60, 7500), (1280, 720, 60, 4500), (1280, 720, 45, 3800), (1280, 720, 15, 3000),
            (1080, 1920, 30, 5000), (960, 540, 30, 2200), (1600, 900, 30, 3900), (320, 180, 30, 300),
            (480, 270, 30, 600), (1920, 1920, 60, 10_000), (Int.max, Int.max, 30, 10_000), (-2, 720, 30, 300),
        ]
    )
    func rate(width: Int, height: Int, fps: Int, bitrate: Int) {
        #expect(ProgramQuality.videoBitrate(width: width, height: height, frameRate: FrameRate(fps)) == bitrate)
        let options = LivestreamOptions(width: width, height: height, frameRate: FrameRate(fps))
        #expect(options.effectiveVideoBitrate == bitrate)
        #expect(ProgramQuality.videoBitrate(width: 640, height: 360, frameRate: FrameRate(0, per: 0)) == 1000)
    }

    @Test(
        "D36 rejects values out of bounds with the field's name",
        arguments: [
            ("width", LivestreamOptions(width: 1281)), ("height", LivestreamOptions(height: 721)),
            ("width", LivestreamOptions(width: 1922)), ("height", LivestreamOptions(height: 0)),
            ("fps", LivestreamOptions(frameRate: FrameRate(61))),
            ("fps", LivestreamOptions(frameRate: FrameRate(0, per: 0))),
            ("video_bitrate", LivestreamOptions(videoBitrate: 9)),
            ("video_bitrate", LivestreamOptions(videoBitrate: 10_001)),
            ("audio_bitrate", LivestreamOptions(audioBitrate: 9)),
            ("audio_bitrate", LivestreamOptions(audioBitrate: 321)),
            ("max_duration", LivestreamOptions(maximumDuration: 0)),
            ("min_idle_timeout", LivestreamOptions(minimumIdleTimeout: LivestreamOptions.longestDuration + 1)),
        ]
    )
    func bounds(field: String, options: LivestreamOptions) {
        let error = #expect(throws: StageError.self) { try options.validate() }
        #expect(error?.code == 3073)
        #expect(error?.message.hasPrefix(field + " ") == true)
    }

    @Test("The bounds themselves are allowed")
    func edges() throws {
        try LivestreamOptions(videoBitrate: 10, audioBitrate: 10, maximumDuration: 1).validate()
        try LivestreamOptions(videoBitrate: 10_000, audioBitrate: 320, minimumIdleTimeout: 86_400).validate()
    }

    @Test("only required values must match the room's program")
    func match() throws {
        let program = ProgramConfiguration()
        try LivestreamOptions().requireMatch(program)
        try LivestreamOptions(quality: .hd, width: 1280, height: 720, frameRate: FrameRate(30)).requireMatch(program)
        try LivestreamOptions(quality: .hd).requireMatch(ProgramConfiguration(width: 720, height: 1280))
        let wrong: [(String, LivestreamOptions)] = [
            ("quality must be 720p", LivestreamOptions(quality: .fullHD)),
            ("width must be 1280", LivestreamOptions(width: 1920)),
            ("fps must be 30", LivestreamOptions(frameRate: FrameRate(30_000, per: 1001))),
            ("video_bitrate must be 3000", LivestreamOptions(videoBitrate: 5000)),
            ("audio_bitrate must be 128", LivestreamOptions(audioBitrate: 96)),
        ]
        for (message, options) in wrong {
            let error = #expect(throws: StageError.self) { try options.requireMatch(program) }
            #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        }
    }
}
