import FootlightTesting
import Testing

@testable import Stage

@Suite("Custom events on stage")
struct CustomEventTests {
    private let clock = ManualClock()
    private let directory: RoomDirectory
    private let ann: CustomEvent.Sender

    init() throws {
        directory = RoomDirectory(clock: clock, pepper: [1], startedAt: 1_000)
        _ = try directory.create(RoomSettings(name: "show"))
        let joined = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .receiveOnly))
        ann = CustomEvent.Sender(participantSID: joined.participant.sid, identity: "ann")
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    private func send(_ type: String, _ data: String, _ sender: CustomEvent.Sender?) throws {
        try directory.send(CustomEvent(type: type, data: data, sender: sender), to: "show", by: "operator")
    }

    @Test("S15 readers receive custom events in order, each with its own revision, and can replay them")
    func order() async throws {
        let events = try directory.subscribe(room: "show", after: nil)
        let revision = try directory.room("show").revision
        let first = try directory.send(CustomEvent(type: "poll.open", data: #"{"a":1}"#), to: "show", by: "operator")
        #expect(first.revision == revision + 1 && first.name == .customEvent)
        _ = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .signallingOnly))
        try send(CustomEvent.reaction, #"{"emoji":"x"}"#, ann)
        let replayed = try directory.subscribe(room: "show", after: revision)
        try directory.end(room: "show")
        let got = await events.events.reduce(into: []) { $0.append($1) }
        #expect(
            got.map(\.name) == [.roomSnapshot, .customEvent, .participantJoined, .customEvent, .roomEnded]
        )
        #expect(got[1].payload == .custom(CustomEvent(type: "poll.open", data: #"{"a":1}"#)))
        #expect(got[3].payload == .custom(CustomEvent(type: "reaction", data: #"{"emoji":"x"}"#, sender: ann)))
        #expect(got.map(\.revision) == got.map(\.revision).sorted())
        #expect(await replayed.events.reduce(into: []) { $0.append($1.name) } == got.dropFirst().map(\.name))
        #expect(code { try send("late", "{}", ann) } == 53106)
    }

    @Test("a custom event is not stored and not in snapshots")
    func notStored() async throws {
        let before = try #require(directory.record(of: "show"))
        try send("poll", #"{"a":1}"#, ann)
        var after = try #require(directory.record(of: "show"))
        #expect(after.revision == before.revision + 1)
        (after.revision, after.updatedAt) = (before.revision, before.updatedAt)
        #expect(after == before)
    }

    @Test(
        "A type has 1 to 64 characters of a small set; anything else is refused, naming the field",
        arguments: ["", "a b", "ä", "a/b", "a\u{0}", String(repeating: "a", count: 65)]
    )
    func types(type: String) throws {
        let refusal = StageError.invalidParameter(
            "type",
            "must have 1 to 64 characters of A-Z, a-z, 0-9, ., _ and -"
        )
        #expect(throws: refusal) { try send(type, "{}", ann) }
        try send(String(repeating: "a", count: 64), "{}", ann)
        try send("Poll_1.open-now", "{}", ann)
    }

    @Test("Data is an object of up to 4096 bytes; more is refused, naming the field")
    func data() throws {
        let whole = #"{"a":""# + String(repeating: "b", count: 4096 - 8) + #""}"#
        try send("poll", whole, ann)
        #expect(throws: StageError.invalidParameter("data", "must have at most 4096 bytes")) {
            try send("poll", whole.replacing(#""}"#, with: #"b"}"#), ann)
        }
        #expect(code { try send("poll", "[]", ann) } == 3073)
        #expect(code { try send("poll", "", ann) } == 3073)
    }

    @Test("a sender has a burst of 10 and 5 events a second, then 429, without limiting others")
    func rate() throws {
        let ben = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .receiveOnly)).participant
        for _ in 0..<10 { try send("clap", "{}", ann) }
        #expect(throws: StageError.tooManyEvents) { try send("clap", "{}", ann) }
        try send("clap", "{}", CustomEvent.Sender(participantSID: ben.sid, identity: "ben"))
        try send("clap", "{}", nil)
        clock.advance(by: .seconds(1))
        for _ in 0..<5 { try send("clap", "{}", ann) }
        #expect(throws: StageError.tooManyEvents) { try send("clap", "{}", ann) }
        // A refused event takes no token.
        clock.advance(by: .seconds(1))
        for _ in 0..<5 { try send("clap", "{}", ann) }
    }

    @Test("all participants of a room share a burst of 100 and 50 events a second, without limiting operators")
    func crowd() throws {
        let crowd = try (0..<20).map { number in
            let name = "fan\(number)"
            let joined = try directory.join(room: "show", JoinRequest(identity: name, mode: .receiveOnly))
            return CustomEvent.Sender(participantSID: joined.participant.sid, identity: name)
        }
        for sender in crowd {
            for _ in 0..<5 { try send("clap", "{}", sender) }
        }
        #expect(code { try send("clap", "{}", ann) } == 429)
        try send("stop", "{}", nil)
        clock.advance(by: .seconds(1))
        for sender in crowd.prefix(10) {
            for _ in 0..<5 { try send("clap", "{}", sender) }
        }
        #expect(code { try send("clap", "{}", ann) } == 429)
    }

    @Test("refuses an event of a participant that left")
    func gone() throws {
        try directory.leave(room: "show", participant: "ann", reason: .left)
        #expect(code { try send("clap", "{}", ann) } == 53204)
    }
}
