import FootlightTesting
import Testing

@testable import Stage

@Suite("Speaking on stage")
struct StageSpeakingTests {
    private let clock = ManualClock()
    private let directory: RoomDirectory

    init() throws {
        directory = RoomDirectory(clock: clock, pepper: [1], startedAt: 1_000)
        _ = try directory.create(RoomSettings(name: "show"))
    }

    private func join(_ identity: String, _ mode: ParticipantMode = .sendAndReceive) throws -> String {
        try directory.join(room: "show", JoinRequest(identity: identity, mode: mode)).participant.sid
    }

    /// Reports levels for a while, ten times a second.
    private func report(_ levels: [String: Double?], tenths: Int) throws {
        let entries = levels.map { MixerReport.Entry(participantSID: $0.key, audioLevel: $0.value, subscribed: []) }
        for _ in 0..<tenths {
            clock.advance(by: .milliseconds(100))
            try directory.report(room: "show", MixerReport(entries: entries))
        }
    }

    private func view(_ reference: String) throws -> ParticipantView {
        try #require(try directory.room("show").participant(reference))
    }

    /// Records the events from now on.
    private func follow() -> (log: EventLog, observation: StageObservation) {
        let log = EventLog()
        return (log, directory.observe { log.add($0) })
    }

    @Test("V25 the dominant speaker is in the room, in the views and in the events, and nil when nobody speaks")
    func dominantSpeaker() throws {
        let (ann, ben) = (try join("ann"), try join("ben"))
        let (log, observation) = follow()
        defer { observation.cancel() }
        try report([ann: -20, ben: -127], tenths: 6)
        #expect(try directory.room("show").dominantSpeakerSID == ann)
        #expect(try view("ann").isDominantSpeaker)
        #expect(try view("ann").isSpeaking)
        #expect(try view("ann").audioLevel == -20)
        #expect(try !view("ben").isSpeaking)
        #expect(try view("ben").audioLevel == -127)
        try report([ann: -127, ben: -127], tenths: 40)
        #expect(try directory.room("show").dominantSpeakerSID == nil)
        #expect(log.speakers == [ann, nil])
        #expect(log.reasons == [.began, .silence])
        #expect(
            log.names == [.participantUpdated, .dominantSpeakerChanged, .participantUpdated, .dominantSpeakerChanged]
        )
    }

    @Test("a change of level alone causes no event and no new revision")
    func levelAlone() throws {
        let ann = try join("ann")
        try report([ann: -30], tenths: 10)
        let (log, observation) = follow()
        defer { observation.cancel() }
        let before = try view("ann")
        try report([ann: -12.5], tenths: 10)
        #expect(log.names.isEmpty)
        #expect(try view("ann").audioLevel == -12.5)
        #expect(try view("ann").revision == before.revision)
    }

    @Test("every change of speaking and dominance raises the participants' revisions")
    func revisions() throws {
        let (ann, ben) = (try join("ann"), try join("ben"))
        let before = (try view("ann").revision, try view("ben").revision)
        try report([ann: -20, ben: -127], tenths: 30)
        let between = (try view("ann").revision, try view("ben").revision)
        #expect(between.0 > before.0)
        #expect(between.1 == before.1)
        try report([ann: -127, ben: -20], tenths: 10)
        #expect(try directory.room("show").dominantSpeakerSID == ben)
        #expect(try view("ann").revision > between.0)
        #expect(try view("ben").revision > between.1)
    }

    @Test("V2 levels of the audience and of unknown sids are ignored")
    func audience() throws {
        let (ann, eve) = (try join("ann"), try join("eve", .receiveOnly))
        let (log, observation) = follow()
        defer { observation.cancel() }
        try report([ann: -127, eve: -10, "PA0": -10], tenths: 20)
        #expect(log.names.isEmpty)
        #expect(try directory.room("show").dominantSpeakerSID == nil)
        #expect(try !view("eve").isSpeaking)
    }

    @Test("D20 leaving and stepping down clear the dominant speaker before their own events", arguments: [true, false])
    func clears(leaves: Bool) throws {
        let ann = try join("ann")
        try report([ann: -20], tenths: 10)
        let (log, observation) = follow()
        defer { observation.cancel() }
        if leaves {
            try directory.leave(room: "show", participant: ann, reason: .left)
        } else {
            _ = try directory.changeMode(room: "show", participant: ann, to: .receiveOnly)
            #expect(try !view("ann").isSpeaking)
        }
        #expect(try directory.room("show").dominantSpeakerSID == nil)
        #expect(log.speakers == [nil])
        #expect(log.reasons == [.left])
        let event: StageEvent.Name = leaves ? .participantLeft : .participantModeChanged
        #expect(log.names.prefix(2) == [.dominantSpeakerChanged, event])
    }

    @Test("without a mixer there is no dominant speaker after a while")
    func mixerGone() throws {
        let ann = try join("ann")
        try report([ann: -20], tenths: 10)
        for _ in 0..<20 {
            clock.advance(by: .milliseconds(250))
            directory.sweep()
        }
        #expect(try directory.room("show").dominantSpeakerSID == nil)
        #expect(try !view("ann").isSpeaking)
    }

    @Test("muting a host clears its dominance and large tile at once")
    func fadedOut() throws {
        let (ann, ben) = (try join("ann"), try join("ben"))
        try directory.setLayout(room: "show") { $0.kind = .spotlight }
        func large() throws -> [String] { try directory.room("show").layout.tiles.map(\.label) }
        try report([ann: -127, ben: -20], tenths: 10)
        #expect(try large() == ["ben"])
        let (log, observation) = follow()
        defer { observation.cancel() }
        try directory.setSound(room: "show", participant: ben) { $0.gain = -60 }
        #expect(log.reasons == [.faded])
        #expect(log.names == [.dominantSpeakerChanged, .participantUpdated, .layoutChanged])
        #expect(try directory.room("show").dominantSpeakerSID == nil)
        #expect(try large() == ["ann"])
        #expect(try !view("ben").isSpeaking)
        try report([ann: -127, ben: -20], tenths: 50)
        #expect(try directory.room("show").dominantSpeakerSID == nil)
        #expect(try large() == ["ann"])
        // The level of the view is without gain.
        #expect(try view("ben").audioLevel == -20)
        try directory.setSound(room: "show", participant: ben) { $0.gain = 0 }
        try report([ann: -127, ben: -20], tenths: 10)
        #expect(try large() == ["ben"])
    }
}
