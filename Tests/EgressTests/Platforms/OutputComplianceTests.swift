import Media
import Stage
import Testing

@testable import Egress

@Suite("Whether a stream suits the platforms of both addresses")
struct OutputComplianceTests {
    private func figures(bitrate: Double) -> StreamFigures {
        var figures = StreamFigures(ProgramConfiguration())
        figures.videoBitrate = bitrate
        return figures
    }

    private func compliance(_ main: String, _ spare: String?, bitrate: Double) throws -> OutputCompliance {
        func watch(_ url: String) throws -> ComplianceWatch {
            ComplianceWatch(address: try PushAddress(url: url, streamKey: "k"), figures: figures(bitrate: bitrate))
        }
        return OutputCompliance(main: try watch(main), spare: try spare.map { try watch($0) })
    }

    private let youtube = "rtmps://a.rtmps.youtube.com/live2"
    private let facebook = "rtmp://live-api.facebook.com/rtmp"
    private let twitch = "rtmp://live-fra.twitch.tv/app"

    @Test("what the spare address's platform does not want is known before the stream begins")
    func planned() throws {
        let both = try compliance(youtube, facebook, bitrate: 5000)
        #expect(both.inUse.shortfalls == [])
        #expect(both.shortfallsOfOther.map(\.kind) == [.transport, .videoBitrate])
        #expect(both.isOtherSpare)
        // What is amiss at both alike is said once.
        let same = try compliance(youtube, "rtmps://b.rtmps.youtube.com/live2?backup=1", bitrate: 500)
        #expect(same.inUse.shortfalls.map(\.kind) == [.videoBitrate])
        #expect(same.shortfallsOfOther == [])
        #expect(try compliance(youtube, nil, bitrate: 5000).shortfallsOfOther == [])
    }

    @Test("after a move the stream is held against the platform of the address that has it, and back again")
    func moved() throws {
        var both = try compliance(youtube, twitch, bitrate: 3000)
        #expect(both.moved(toSpare: false) == nil)
        // On YouTube, nobody minds 5000 kb/s; on Twitch it is too much for this size.
        #expect(both.measured(figures(bitrate: 5000)) == nil)
        #expect(both.measured(figures(bitrate: 5000)) == nil)
        #expect(both.inUse.shortfalls == [])
        guard case .fellShort(let shortfalls)? = both.moved(toSpare: true) else {
            Issue.record("nothing was told")
            return
        }
        #expect(shortfalls.map(\.kind) == [.videoBitrate])
        #expect(shortfalls.first?.message.contains("Twitch") == true)
        #expect(both.moved(toSpare: true) == nil)
        #expect(both.measured(figures(bitrate: 3000)) == nil)
        #expect(both.measured(figures(bitrate: 3000)) == .isGood)
        #expect(both.measured(figures(bitrate: 5000)) == nil)
        guard case .fellShort? = both.measured(figures(bitrate: 5000)) else {
            Issue.record("the spare's platform was not asked")
            return
        }
        #expect(both.moved(toSpare: false) == .isGood)
        #expect(both.inUse.shortfalls == [] && !both.shortfallsOfOther.isEmpty && both.isOtherSpare)
    }

    @Test("a move between addresses that want the same is no news")
    func alike() throws {
        var both = try compliance(youtube, "rtmps://b.rtmps.youtube.com/live2?backup=1", bitrate: 500)
        #expect(both.moved(toSpare: true) == nil)
        #expect(both.inUse.shortfalls.map(\.kind) == [.videoBitrate])
        var single = try compliance(youtube, nil, bitrate: 3000)
        #expect(single.moved(toSpare: true) == nil)
    }
}
