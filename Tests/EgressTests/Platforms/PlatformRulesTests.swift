import Media
import Stage
import Testing

@testable import Egress

@Suite("What platforms ask of a stream")
struct PlatformRulesTests {
    private func kinds(
        _ program: ProgramConfiguration,
        _ platform: Platform,
        isSecure: Bool = true
    ) -> [ComplianceIssue.Kind] {
        PlatformRules.rules(for: platform).issues(of: StreamProperties(program), isSecure: isSecure).map(\.kind)
    }

    @Test("a target belongs to a platform by its host's domain, not by words in its name")
    func hosts() {
        let hosts: [(String, Platform)] = [
            ("a.rtmps.youtube.com", .youtube), ("A.RTMP.YouTube.com.", .youtube), ("live-fra.twitch.tv", .twitch),
            ("ingest.global-contribute.live-video.net", .twitch), ("live-api-s.facebook.com", .facebook),
            ("rtmp-api.facebook.com", .facebook), ("youtube.com.example.org", .unknown), ("notyoutube.com", .unknown),
            ("127.0.0.1", .unknown), ("com", .unknown), ("va.pscp.tv", .x), ("notpscp.tv", .unknown),
            ("livepush.trovo.live", .trovo), ("txpush.rtmp.nimo.tv", .nimo), ("stream.dlive.tv", .dlive),
            ("global-live.mux.com", .mux), ("live.restream.io", .restream), ("cg.castr.io", .castr),
            ("dc-global.livepush.io", .livepush),
        ]
        for (host, platform) in hosts { #expect(Platform(host: host) == platform, "\(host)") }
    }

    @Test("of the machines that Twitch and IVS share, those with a channel's own name are IVS's")
    func liveVideo() {
        let hosts: [(String, Platform)] = [
            ("a1b2c3d4e5f6.global-contribute.live-video.net", .ivs),
            ("A1B2C3D4E5F6.Global-Contribute.Live-Video.net.", .ivs),
            ("ingest.global-contribute.live-video.net", .twitch), ("fra02.contribute.live-video.net", .twitch),
            ("global-contribute.live-video.net", .twitch),
            ("a1b2c3d4e5f6.global-contribute.live-video.net.example.org", .unknown),
            ("a1b2c3d4e5f6.global-contribute.notlive-video.net", .unknown),
        ]
        for (host, platform) in hosts { #expect(Platform(host: host) == platform, "\(host)") }
    }

    @Test("of the smaller platforms the most is known, whatever the size, and of some not even that")
    func smaller() {
        let most: [(Platform, Int)] = [
            (.x, 12_000), (.trovo, 9000), (.nimo, 6000), (.dlive, 6000), (.mux, 5000), (.livepush, 16_000),
        ]
        for (platform, bitrate) in most {
            let large = ProgramConfiguration(width: 1920, height: 1080, videoBitrate: bitrate)
            #expect(kinds(large, platform) == [], "\(platform)")
            var figures = StreamProperties(large)
            figures.videoBitrate = Double(bitrate) * 1.2
            let rules = PlatformRules.rules(for: platform)
            #expect(rules.issues(of: figures, isSecure: false).map(\.kind) == [.videoBitrate], "\(platform)")
        }
        for platform in [Platform.restream, .castr, .ivs] {
            var figures = StreamProperties(ProgramConfiguration(audioBitrate: 320))
            (figures.width, figures.height, figures.frameRate) = (7680, 4320, 120)
            (figures.videoBitrate, figures.peakVideoBitrate) = (80_000, 300_000)
            let rules = PlatformRules.rules(for: platform)
            #expect(rules.issues(of: figures, isSecure: false) == [], "\(platform)")
            figures.keyInterval = 3
            #expect(rules.issues(of: figures, isSecure: false).map(\.kind) == [.keyInterval], "\(platform)")
        }
        #expect(kinds(ProgramConfiguration(keyInterval: 3), .x) == [])
        #expect(kinds(ProgramConfiguration(keyInterval: 4), .x) == [.keyInterval])
        for (platform, bitrate) in [(Platform.x, 128.0), (.trovo, 160), (.nimo, 160), (.dlive, 160), (.mux, 160)] {
            #expect(PlatformRules.rules(for: platform).highestAudioBitrate == bitrate, "\(platform)")
        }
    }

    @Test("the default program suits every platform")
    func defaults() {
        for platform in Platform.allCases { #expect(kinds(ProgramConfiguration(), platform) == [], "\(platform)") }
        #expect(kinds(ProgramConfiguration(), .facebook, isSecure: false) == [.transport])
        #expect(kinds(ProgramConfiguration(), .unknown, isSecure: false) == [])
    }

    @Test("too much or too little is named, with what is the most or the least")
    func limits() {
        #expect(kinds(ProgramConfiguration(videoBitrate: 7000), .twitch) == [.videoBitrate])
        #expect(kinds(ProgramConfiguration(videoBitrate: 7000), .youtube) == [])
        #expect(kinds(ProgramConfiguration(videoBitrate: 900), .youtube) == [.videoBitrate])
        #expect(kinds(ProgramConfiguration(videoBitrate: 900), .unknown) == [])
        #expect(kinds(ProgramConfiguration(audioBitrate: 320), .twitch) == [])
        #expect(kinds(ProgramConfiguration(audioBitrate: 320), .facebook) == [.audioBitrate])
        #expect(kinds(ProgramConfiguration(keyInterval: 4), .youtube) == [])
        #expect(kinds(ProgramConfiguration(keyInterval: 4), .twitch) == [.keyInterval])
        #expect(kinds(ProgramConfiguration(keyInterval: 5), .facebook) == [.keyInterval])
        #expect(kinds(ProgramConfiguration(width: 720, height: 1280), .facebook) == [])
        #expect(kinds(ProgramConfiguration(width: 1920, height: 1920, videoBitrate: 6000), .twitch) == [.size])
        let message = PlatformRules.rules(for: .twitch)
            .issues(of: StreamProperties(ProgramConfiguration(videoBitrate: 7000)), isSecure: true).first?.message
        let words = "the video has 7000 kb/s; for 1280x720 at 30 fps 3000 is the most for Twitch"
        #expect(message == words)
    }

    @Test("codecs, profile, B-frames, channels and sample rate are looked at")
    func codecs() {
        var figures = StreamProperties()
        #expect(PlatformRules.rules(for: .youtube).issues(of: figures, isSecure: true) == [])
        figures.videoCodec = .hevc
        figures.profile = 66
        figures.reorderedFrames = 3
        figures.audioCodec = .mp3
        figures.channels = 6
        figures.sampleRate = 22_050
        let kinds = PlatformRules.rules(for: .twitch).issues(of: figures, isSecure: true).map(\.kind)
        #expect(kinds == [.videoCodec, .profile, .reordering, .audioCodec, .sampleRate, .channels])
        let youtube = PlatformRules.rules(for: .youtube).issues(of: figures, isSecure: true).map(\.kind)
        #expect(!youtube.contains(.audioCodec))
    }

    @Test("D10 level, changes of format, evenness and length are looked at")
    func rest() {
        func kinds(_ platform: Platform, _ change: (inout StreamProperties) -> Void) -> [ComplianceIssue.Kind] {
            var figures = StreamProperties(ProgramConfiguration())
            change(&figures)
            return PlatformRules.rules(for: platform).issues(of: figures, isSecure: true).map(\.kind)
        }
        #expect(kinds(.facebook) { $0.level = 42 } == [])
        #expect(kinds(.facebook) { $0.level = 51 } == [.level])
        #expect(kinds(.youtube) { $0.level = 51 } == [])
        #expect(kinds(.facebook) { $0.hasChanged = true } == [.change])
        #expect(kinds(.twitch) { $0.hasChanged = true } == [])
        // 3000 kb/s is the most for this size.
        #expect(kinds(.twitch) { $0.peakVideoBitrate = 5900 } == [])
        #expect(kinds(.twitch) { $0.peakVideoBitrate = 6100 } == [.rateControl])
        for (platform, hours) in [(Platform.facebook, 8.0), (.youtube, 12), (.twitch, 48)] {
            #expect(kinds(platform) { $0.duration = hours * 3600 } == [])
            #expect(kinds(platform) { $0.duration = hours * 3600 + 1 } == [.duration])
        }
        #expect(kinds(.unknown) { $0.duration = 86_400 } == [])
    }

    @Test("a rendition is held against the rules with its own figures, and the audio alone without frames")
    func renditions() {
        var program = ProgramConfiguration()
        let small = Rendition(name: "480p", width: 854, height: 480, videoBitrate: 1200)
        program.ladder = RenditionLadder(renditions: [small], hasAudioOnly: true)
        #expect(StreamProperties(program, rendition: "480p").height == 480)
        #expect(StreamProperties(program, rendition: "480p").videoBitrate == 1200)
        #expect(StreamProperties(program, rendition: "audio").videoCodec == nil)
        #expect(StreamProperties(program, rendition: "audio").sampleRate == 48_000)
    }

    @Test("every platform's table rises, and says where it is from and of when")
    func tables() {
        for platform in Platform.allCases {
            let rules = PlatformRules.rules(for: platform)
            #expect(rules.platform == platform)
            #expect(rules.source.hasPrefix("https://") || platform == .unknown, "\(platform)")
            #expect(!rules.source.isEmpty)
            #expect(rules.edition.contains("2026") || rules.edition.contains("version") || platform == .unknown)
            #expect(rules.citation == "\(rules.source), \(rules.edition)")
            for (one, next) in zip(rules.steps, rules.steps.dropFirst()) {
                #expect(one.lines < next.lines || one.frameRate < next.frameRate)
                #expect(one.bitrate.upperBound <= next.bitrate.upperBound)
            }
        }
    }
}
