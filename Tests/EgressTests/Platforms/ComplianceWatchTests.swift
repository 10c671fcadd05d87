import Media
import NIOCore
import Stage
import Testing

@testable import Egress

@Suite("Whether a stream goes on suiting its platform")
struct ComplianceWatchTests {
    private func figures(bitrate: Double, keyInterval: Double = 2) -> StreamFigures {
        var figures = StreamFigures(ProgramConfiguration())
        figures.videoBitrate = bitrate
        figures.keyInterval = keyInterval
        return figures
    }

    private func watch(_ figures: StreamFigures? = nil) -> ComplianceWatch {
        ComplianceWatch(rules: .rules(for: .youtube), isSecure: true, figures: figures)
    }

    @Test("one bad stretch is nothing, the second is told once, and two good ones end it")
    func hysteresis() {
        var watch = watch(figures(bitrate: 3000))
        #expect(watch.measured(figures(bitrate: 700)) == nil)
        #expect(watch.measured(figures(bitrate: 2990)) == nil)
        #expect(watch.measured(figures(bitrate: 700)) == nil)
        guard case .fellShort(let shortfalls)? = watch.measured(figures(bitrate: 600)) else {
            Issue.record("nothing was told")
            return
        }
        #expect(shortfalls.map(\.kind) == [.videoBitrate])
        #expect(shortfalls.first?.message.contains("600 kb/s") == true)
        #expect(watch.measured(figures(bitrate: 650)) == nil)
        #expect(watch.shortfalls.first?.message.contains("650 kb/s") == true)
        #expect(watch.measured(figures(bitrate: 3000)) == nil)
        #expect(watch.measured(figures(bitrate: 3000)) == .isGood)
        #expect(watch.measured(figures(bitrate: 3000)) == nil)
        #expect(watch.shortfalls == [])
    }

    @Test("what was known to be amiss before it began is not told again, only what comes to it")
    func known() {
        var watch = watch(figures(bitrate: 700))
        #expect(watch.shortfalls.map(\.kind) == [.videoBitrate])
        #expect(watch.measured(figures(bitrate: 700, keyInterval: 6)) == nil)
        guard case .fellShort(let shortfalls)? = watch.measured(figures(bitrate: 700, keyInterval: 6)) else {
            Issue.record("nothing was told")
            return
        }
        #expect(shortfalls.map(\.kind) == [.keyInterval])
        #expect(watch.measured(figures(bitrate: 700)) == nil)
        #expect(watch.measured(figures(bitrate: 700)) == nil)
        #expect(watch.shortfalls.map(\.kind) == [.videoBitrate])
    }

    @Test("D7 a stream with fewer pictures than it was meant to have is told, and so is one that has them again")
    func fewerPictures() {
        func at(_ rate: Double) -> StreamFigures {
            var result = figures(bitrate: 3000)
            result.frameRate = rate
            return result
        }
        var watch = watch(at(30))
        #expect(watch.measured(at(28)) == nil)
        #expect(watch.measured(at(28)) == nil)
        #expect(watch.measured(at(20.04)) == nil)
        let told = watch.measured(at(20.04))
        let message = "the video has 20.0 pictures a second in place of 30"
        #expect(told == .fellShort([Shortfall(.frameRate, message)]))
        #expect(watch.measured(at(30)) == nil)
        #expect(watch.measured(at(30)) == .isGood)
    }

    @Test("D10 what was planned to last too long goes on being amiss while all that is measured is good")
    func duration() {
        var plan = figures(bitrate: 3000)
        plan.duration = 13 * 3600
        var watch = watch(plan)
        #expect(watch.shortfalls.map(\.message) == ["the livestream may last 13 hours; 12 are the most for YouTube"])
        for _ in 0..<4 { #expect(watch.measured(figures(bitrate: 3000)) == nil) }
        #expect(watch.shortfalls.map(\.kind) == [.duration])
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
        let watch = ComplianceWatch(rules: .rules(for: .youtube), isSecure: true, figures: nil)
        var livestream = RoomLivestream(progress: LivestreamProgress(now: MonotonicTime(nanoseconds: 0)))
        let made = livestream.add(LiveOutput(push: push, feed: "R", compliance: OutputCompliance(main: watch)))
        let gauge = try #require(made)
        gauge.receive(.h264Configuration(record, timestamp: 0))
        /// Thirty pictures a second from one second to another; what was told.
        func play(_ seconds: Range<Int>, kilobits: Int) -> [LivestreamWarning] {
            var told: [LivestreamWarning] = []
            for picture in seconds.lowerBound * 30..<seconds.upperBound * 30 {
                gauge.receive(
                    MediaPacket(
                        content: .picture(.h264, isKey: picture % 60 == 0, isDisposable: false),
                        timestamp: Int64(picture) * 1000 / 30,
                        body: ByteBuffer(repeating: 0, count: kilobits * 1000 / 8 / 30 + 5),
                        headerLength: 5
                    )
                )
                livestream.lookAtFigures()
                told += livestream.takeWarnings()
            }
            return told
        }
        #expect(play(0..<40, kilobits: 800) == [])
        let told = play(40..<80, kilobits: 2500)
        #expect(told.map(\.reason) == [.streamUnsuitable] && told.first?.output == "yt")
        #expect(told.first?.message.contains("2500 kb/s") == true, "\(told)")
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
        let watch = ComplianceWatch(rules: .rules(for: .twitch), isSecure: false, figures: plan)
        var output = LiveOutput(push: push, feed: "R", compliance: OutputCompliance(main: watch))
        var few = plan
        few.frameRate = 20
        #expect(output.measured(few) == nil)
        let told = output.measured(few)
        #expect(told?.message == "Output tw: the video has 20.0 pictures a second in place of 30")
        few.keyInterval = 4
        #expect(output.measured(few) == nil)
        let message = output.measured(few)?.message ?? ""
        #expect(message.contains("help.twitch.tv"), "\(message)")
        #expect(message.hasSuffix(", as of October 2026)"), "\(message)")
    }
}
