import Media
import Testing

@testable import Stage

@Suite("Talkback of a room") struct RoomTalkbackTests {
    private let ann = RoomTalkback.Speaker(identity: "ann", session: "1")

    private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: 0).advanced(seconds: seconds) }

    @Test("a talk begins with its first block, and ends a second after the last one or when the speaker ends it")
    func talk() throws {
        var talkback = RoomTalkback()
        #expect(talkback.talk(at: time(0)) == nil)
        #expect(try talkback.receive(from: ann, sequence: 0, duration: 0.1, now: time(0)) == .begun)
        #expect(try talkback.receive(from: ann, sequence: 1, duration: 0.1, now: time(0.9)) == .accepted)
        #expect(talkback.talk(at: time(1.8))?.speaker == ann)
        #expect(talkback.talk(at: time(1.9)) == nil)
        #expect(try talkback.receive(from: ann, sequence: 0, duration: 0.1, now: time(2)) == .begun)
        talkback.end(by: ann)
        #expect(talkback.talk(at: time(2)) == nil)
    }

    @Test("one speaker at a time, by the talk and not by the name; another one is refused until the first has finished")
    func taken() throws {
        var talkback = RoomTalkback()
        _ = try talkback.receive(from: ann, sequence: 0, duration: 0.1, now: time(0))
        for other in [
            RoomTalkback.Speaker(identity: "bob", session: "1"), RoomTalkback.Speaker(identity: "ann", session: "2"),
        ] {
            let error = #expect(throws: StageError.self) {
                try talkback.receive(from: other, sequence: 0, duration: 0.1, now: time(0.5))
            }
            #expect(error?.code == 409 && error?.name == "TalkbackTakenError")
            talkback.end(by: other)
            #expect(talkback.talk(at: time(0.5))?.speaker == ann, "a refused one neither prolongs nor ends the talk")
        }
        let bob = RoomTalkback.Speaker(identity: "bob", session: "1")
        #expect(try talkback.receive(from: bob, sequence: 0, duration: 0.1, now: time(1)) == .begun)
    }

    @Test("late blocks, and those more than a second ahead of real time, are dropped and counted")
    func dropped() throws {
        var talkback = RoomTalkback()
        for sequence in 0..<2 {
            _ = try talkback.receive(from: ann, sequence: sequence, duration: 0.5, now: time(0))
        }
        #expect(try talkback.receive(from: ann, sequence: 2, duration: 0.5, now: time(0.4)) == .dropped)
        #expect(try talkback.receive(from: ann, sequence: 1, duration: 0.1, now: time(0.6)) == .dropped)
        #expect(try talkback.receive(from: ann, sequence: 2, duration: 0.5, now: time(0.6)) == .accepted)
        #expect(talkback.talk(at: time(0.6))?.dropped == 2)
    }
}
