import Media
import NIOCore
import Stage
import Testing

@testable import Egress

@Suite("Whether a stream goes on suiting its platform")
struct ComplianceMonitorTests {
    private func figures(bitrate: Double, keyInterval: Double = 2) -> StreamProperties {
        var figures = StreamProperties(ProgramConfiguration())
        figures.videoBitrate = bitrate
        figures.keyInterval = keyInterval
        return figures
    }

    private func watch(_ figures: StreamProperties? = nil) -> ComplianceMonitor {
        ComplianceMonitor(rules: .rules(for: .youtube), isSecure: true, figures: figures)
    }

    @Test("one bad stretch is nothing, the second is told once, and two good ones end it")
    func hysteresis() {
        var watch = watch(figures(bitrate: 3000))
        #expect(watch.measured(figures(bitrate: 700)) == nil)
        #expect(watch.measured(figures(bitrate: 2990)) == nil)
        #expect(watch.measured(figures(bitrate: 700)) == nil)
        guard case .fellShort(let issues)? = watch.measured(figures(bitrate: 600)) else {
            Issue.record("nothing was told")
            return
        }
        #expect(issues.map(\.kind) == [.videoBitrate])
        #expect(issues.first?.message.contains("600 kb/s") == true)
        #expect(watch.measured(figures(bitrate: 650)) == nil)
        #expect(watch.issues.first?.message.contains("650 kb/s") == true)
        #expect(watch.measured(figures(bitrate: 3000)) == nil)
        #expect(watch.measured(figures(bitrate: 3000)) == .isGood)
        #expect(watch.measured(figures(bitrate: 3000)) == nil)
        #expect(watch.issues == [])
    }

    @Test("what was known to be amiss before it began is not told again, only what comes to it")
    func known() {
        var watch = watch(figures(bitrate: 700))
        #expect(watch.issues.map(\.kind) == [.videoBitrate])
        #expect(watch.measured(figures(bitrate: 700, keyInterval: 6)) == nil)
        guard case .fellShort(let issues)? = watch.measured(figures(bitrate: 700, keyInterval: 6)) else {
            Issue.record("nothing was told")
            return
        }
        #expect(issues.map(\.kind) == [.keyInterval])
        #expect(watch.measured(figures(bitrate: 700)) == nil)
        #expect(watch.measured(figures(bitrate: 700)) == nil)
        #expect(watch.issues.map(\.kind) == [.videoBitrate])
    }

    @Test("D7 a stream with fewer frames than it was meant to have is told, and so is one that has them again")
    func lowerFrameRate() {
        func at(_ rate: Double) -> StreamProperties {
            var result = figures(bitrate: 3000)
            result.frameRate = rate
            return result
        }
        var watch = watch(at(30))
        #expect(watch.measured(at(28)) == nil)
        #expect(watch.measured(at(28)) == nil)
        #expect(watch.measured(at(20.04)) == nil)
        let received = watch.measured(at(20.04))
        let message = "the video has 20.0 fps in place of 30"
        #expect(received == .fellShort([ComplianceIssue(.frameRate, message)]))
        #expect(watch.measured(at(30)) == nil)
        #expect(watch.measured(at(30)) == .isGood)
    }

    @Test("D10 what was planned to last too long goes on being amiss while all that is measured is good")
    func duration() {
        var plan = figures(bitrate: 3000)
        plan.duration = 13 * 3600
        var watch = watch(plan)
        #expect(watch.issues.map(\.message) == ["the livestream may last 13 hours; 12 are the most for YouTube"])
        for _ in 0..<4 { #expect(watch.measured(figures(bitrate: 3000)) == nil) }
        #expect(watch.issues.map(\.kind) == [.duration])
    }

    @Test("D10 a bitrate that changes in the middle of the show is told, and told again when it is as it should be")
    func changedBitrate() throws {
        // 640x360, of the Main profile.
        let sample = try #require(try Sample.shared.get().packets.first { $0.content == .videoConfiguration(.h264) })
        var record = sample.payload
        record.setInteger(UInt8(77), at: record.readerIndex + 1)
        let push = RTMPPush(
            name: "yt",
            address: try PushAddress(url: "rtmps://a.rtmps.youtube.com/live2", streamKey: "k"),
            policy: TargetPolicy()
        )
        let watch = ComplianceMonitor(rules: .rules(for: .youtube), isSecure: true, figures: nil)
        var livestream = RoomLivestream(progress: LivestreamProgress(now: MonotonicTime(nanoseconds: 0)))
        let made = livestream.add(LiveOutput(push: push, feed: "R", compliance: OutputCompliance(main: watch)))
        let gauge = try #require(made)
        gauge.receive(.h264Configuration(record, timestamp: 0))
        /// Sends thirty frames a second from one second to another and returns the warnings.
        func play(_ seconds: Range<Int>, kilobits: Int) -> [LivestreamWarning] {
            var warnings: [LivestreamWarning] = []
            for frame in seconds.lowerBound * 30..<seconds.upperBound * 30 {
                gauge.receive(
                    MediaPacket(
                        content: .video(.h264, isKey: frame % 60 == 0, isDisposable: false),
                        timestamp: Int64(frame) * 1000 / 30,
                        body: ByteBuffer(repeating: 0, count: kilobits * 1000 / 8 / 30 + 5),
                        headerLength: 5
                    )
                )
                livestream.updateCompliance()
                warnings += livestream.drainWarnings()
            }
            return warnings
        }
        #expect(play(0..<40, kilobits: 800) == [])
        let received = play(40..<80, kilobits: 2500)
        #expect(received.map(\.reason) == [.streamUnsuitable] && received.first?.output == "yt")
        #expect(received.first?.message.contains("2500 kb/s") == true, "\(received)")
        #expect(play(80..<120, kilobits: 800).map(\.reason) == [.streamSuitable])
    }

    @Test("a warning says where the platform asks for it and when that was read, but not where it asks for nothing")
    func citation() throws {
        let push = RTMPPush(
            name: "tw",
            address: try PushAddress(url: "rtmp://live-fra.twitch.tv/app", streamKey: "k"),
            policy: TargetPolicy()
        )
        let plan = figures(bitrate: 3000)
        let watch = ComplianceMonitor(rules: .rules(for: .twitch), isSecure: false, figures: plan)
        var output = LiveOutput(push: push, feed: "R", compliance: OutputCompliance(main: watch))
        var few = plan
        few.frameRate = 20
        #expect(output.measured(few) == nil)
        let received = output.measured(few)
        #expect(received?.message == "Output tw: the video has 20.0 fps in place of 30")
        few.keyInterval = 4
        #expect(output.measured(few) == nil)
        let message = output.measured(few)?.message ?? ""
        #expect(message.contains("help.twitch.tv"), "\(message)")
        #expect(message.hasSuffix(", as of October 2026)"), "\(message)")
    }
}

@Suite("Whether a stream suits the platforms of both addresses")
struct OutputComplianceTests {
    private func figures(bitrate: Double) -> StreamProperties {
        var figures = StreamProperties(ProgramConfiguration())
        figures.videoBitrate = bitrate
        return figures
    }

    private func compliance(_ main: String, _ spare: String?, bitrate: Double) throws -> OutputCompliance {
        func watch(_ url: String) throws -> ComplianceMonitor {
            ComplianceMonitor(address: try PushAddress(url: url, streamKey: "k"), figures: figures(bitrate: bitrate))
        }
        return OutputCompliance(main: try watch(main), spare: try spare.map { try watch($0) })
    }

    private let youtube = "rtmps://a.rtmps.youtube.com/live2"
    private let facebook = "rtmp://live-api.facebook.com/rtmp"
    private let twitch = "rtmp://live-fra.twitch.tv/app"

    @Test("what the spare address's platform does not want is known before the stream begins")
    func planned() throws {
        let both = try compliance(youtube, facebook, bitrate: 5000)
        #expect(both.inUse.issues == [])
        #expect(both.issuesAtOtherAddress.map(\.kind) == [.transport, .videoBitrate])
        #expect(both.isOtherSpare)
        // What is amiss at both alike is said once.
        let same = try compliance(youtube, "rtmps://b.rtmps.youtube.com/live2?backup=1", bitrate: 500)
        #expect(same.inUse.issues.map(\.kind) == [.videoBitrate])
        #expect(same.issuesAtOtherAddress == [])
        #expect(try compliance(youtube, nil, bitrate: 5000).issuesAtOtherAddress == [])
    }

    @Test("after a move the stream is held against the platform of the address that has it, and back again")
    func moved() throws {
        var both = try compliance(youtube, twitch, bitrate: 3000)
        #expect(both.moved(toSpare: false) == nil)
        // On YouTube, nobody minds 5000 kb/s; on Twitch it is too much for this size.
        #expect(both.measured(figures(bitrate: 5000)) == nil)
        #expect(both.measured(figures(bitrate: 5000)) == nil)
        #expect(both.inUse.issues == [])
        guard case .fellShort(let issues)? = both.moved(toSpare: true) else {
            Issue.record("nothing was told")
            return
        }
        #expect(issues.map(\.kind) == [.videoBitrate])
        #expect(issues.first?.message.contains("Twitch") == true)
        #expect(both.moved(toSpare: true) == nil)
        #expect(both.measured(figures(bitrate: 3000)) == nil)
        #expect(both.measured(figures(bitrate: 3000)) == .isGood)
        #expect(both.measured(figures(bitrate: 5000)) == nil)
        guard case .fellShort? = both.measured(figures(bitrate: 5000)) else {
            Issue.record("the spare's platform was not asked")
            return
        }
        #expect(both.moved(toSpare: false) == .isGood)
        #expect(both.inUse.issues == [] && !both.issuesAtOtherAddress.isEmpty && both.isOtherSpare)
    }

    @Test("a move between addresses that want the same is no news")
    func alike() throws {
        var both = try compliance(youtube, "rtmps://b.rtmps.youtube.com/live2?backup=1", bitrate: 500)
        #expect(both.moved(toSpare: true) == nil)
        #expect(both.inUse.issues.map(\.kind) == [.videoBitrate])
        var single = try compliance(youtube, nil, bitrate: 3000)
        #expect(single.moved(toSpare: true) == nil)
    }
}
