import Media
import NIOCore
import Testing

@testable import Egress

@Suite("What a push keeps of the program")
struct PushInboxTests {
    private var inbox = PushInbox(limits: .init())

    private static func frame(_ time: Int64, isKey: Bool = false) -> MediaPacket {
        .h264Frame(isKey: isKey, isDisposable: false, timestamp: time, capacity: 10) { $0.writeString("video") }
    }

    private static func audioFrame(_ time: Int64) -> MediaPacket {
        .aacFrame(timestamp: time, capacity: 10) { $0.writeString("audio") }
    }

    private static func video(_ text: String) -> MediaPacket {
        .h264Configuration(ByteBuffer(string: text), timestamp: 0)
    }

    private static func audio(_ text: String) -> MediaPacket {
        .aacConfiguration(ByteBuffer(string: text), timestamp: 0)
    }

    @Test("a connection begins with the configuration and the last keyframe")
    mutating func begin() {
        inbox.receive(Self.audio("a"))
        inbox.receive(Self.video("v"))
        inbox.receive(Self.frame(0))
        #expect(!inbox.canBegin(withoutVideo: true))
        for time in Int64(1)...20 { inbox.receive(Self.frame(time * 10, isKey: time % 8 == 0)) }
        inbox.receive(Self.audioFrame(205))
        #expect(inbox.canBegin(withoutVideo: false))
        let opening = inbox.begin()
        #expect(opening.map { $0.timestamp } == [0, 0, 160, 170, 180, 190, 200, 205])
        #expect(opening[0].content == .videoConfiguration(.h264))
        #expect(opening[1].content == .audioConfiguration(.aac))
        #expect(opening[2].isKeyframe)
        #expect(inbox.count == 0)
    }

    @Test("what was made with an old configuration is not sent after a new one")
    mutating func reconfigured() {
        inbox.receive(Self.video("one"))
        inbox.receive(Self.frame(0, isKey: true))
        inbox.receive(Self.video("one"))
        #expect(inbox.canBegin(withoutVideo: false))
        inbox.receive(Self.video("two"))
        #expect(!inbox.canBegin(withoutVideo: false))
        inbox.receive(Self.frame(40))
        #expect(!inbox.canBegin(withoutVideo: true))
        inbox.receive(Self.frame(80, isKey: true))
        #expect(inbox.begin().first?.body == Self.video("two").body)
    }

    @Test("a program without video begins with its last second of audio, when video was given time")
    mutating func audioOnly() {
        inbox.receive(Self.audio("a"))
        for time in stride(from: Int64(0), to: 10_000, by: 20) { inbox.receive(Self.audioFrame(time)) }
        #expect(!inbox.canBegin(withoutVideo: false))
        #expect(inbox.canBegin(withoutVideo: true))
        #expect(inbox.count <= 51)
    }

    @Test("a GOP without end is not held without end")
    mutating func endless() {
        inbox.receive(Self.video("v"))
        inbox.receive(Self.frame(0, isKey: true))
        for time in Int64(1)...10_000 { inbox.receive(Self.frame(time * 33)) }
        #expect(inbox.count == 0)
        inbox.receive(Self.frame(400_000, isKey: true))
        #expect(inbox.canBegin(withoutVideo: false))
    }

    @Test("drops are counted over connections, and what waits at the end of one is forgotten")
    mutating func drops() {
        inbox.receive(Self.video("v"))
        inbox.receive(Self.frame(0, isKey: true))
        _ = inbox.begin()
        for time in Int64(1)...100 { inbox.receive(Self.frame(time * 40)) }
        let dropped = inbox.dropped
        #expect(dropped > 0)
        // The keyframe before them was sent as the beginning.
        #expect(inbox.frames == .init(offered: 100, dropped: dropped))
        inbox.end()
        #expect(inbox.count == 0)
        #expect(inbox.dropped == dropped)
        inbox.receive(Self.frame(4080))
        #expect(inbox.frames == .init(offered: 100, dropped: dropped))
        #expect(!inbox.canBegin(withoutVideo: false))
    }

    @Test("what an output gathers on purpose is not late: its limits begin behind that")
    func gathered() {
        var configuration = PushConfiguration.output
        #expect(configuration.gathering == 0.6)
        let limits = configuration.queueWhileGathering
        #expect(limits == .init(disposable: 1_300, frames: 1_500, audio: 5_600))
        var inbox = PushInbox(limits: limits)
        inbox.receive(Self.video("v"))
        inbox.receive(Self.frame(0, isKey: true))
        _ = inbox.begin()
        for time in Int64(1)...38 { inbox.receive(Self.frame(time * 40)) }
        #expect(inbox.dropped == 0)
        inbox.receive(Self.frame(39 * 40))
        #expect(inbox.dropped > 0)
        configuration.gathering = 0
        #expect(configuration.queueWhileGathering == configuration.queue)
    }
}
