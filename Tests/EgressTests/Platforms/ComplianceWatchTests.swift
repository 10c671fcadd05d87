import Media
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
}
