import FootlightTesting
import Foundation
import Logging
import Media
import Persistence
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Shows

/// A show directory over a real stage, on a manual clock that begins on Friday, 15 January 2027, 08:00 UTC.
private final class ShowFixture: Sendable {
    static let start = 1_800_000_000.0

    let clock = ManualClock(start: MonotonicTime(nanoseconds: 1_000_000_000_000))
    let stage: RoomDirectory
    let store: MemoryShowStore
    let shows: ShowDirectory
    let box = EffectBox()

    init(shows stored: [Show] = [], rooms: [RoomRecord] = [], startedAt: Double = start) {
        let clock = clock
        let begin = clock.now
        stage = RoomDirectory(clock: clock, pepper: Array(1...32), startedAt: startedAt)
        store = MemoryShowStore()
        let box = box
        shows = ShowDirectory(
            stage: stage,
            shows: stored,
            store: store,
            effects: ShowDirectory.Effects(
                startOutputs: { (_, plan) throws(StageError) in
                    box.outputs.withLock { $0.append(plan.targets.map(\.name)) }
                },
                startRecording: { (room) throws(StageError) in
                    box.recorded.withLock { $0.append(room.settings.name) }
                },
                log: { _, _ in }
            ),
            date: { startedAt + clock.now.seconds(since: begin) }
        )
        stage.restore(rooms)
        shows.resume()
    }

    func settings(_ name: String = "weekly") -> ShowSettings {
        ShowSettings(room: RoomSettings(name: name))
    }

    /// Lets time pass, second by second.
    func wait(_ seconds: Double, step: Double = 1) {
        var left = seconds
        while left > 0 {
            clock.advance(by: .milliseconds(Int64(min(left, step) * 1000)))
            left -= step
            stage.sweep()
            shows.advance()
        }
    }

    func publish(_ seat: Seat) -> Result<PublishGrant, PublishRefusal> {
        shows.authorizePublish(streamKey: seat.streamKey)
    }
}

private final class EffectBox: Sendable {
    /// The names of the outputs of each start.
    let outputs = Mutex<[[String]]>([])
    let recorded = Mutex<[String]>([])
}

/// Keeps shows in memory.
private final class MemoryShowStore: ShowStoring {
    struct Full: Error {}

    let stored = Mutex<[String: Show]>([:])
    let isFull = Mutex(false)
    /// What happens before each write.
    let delay = Mutex<@Sendable () async -> Void>({})

    func save(
        _ id: String,
        _ read: @escaping @Sendable () -> Show?,
        all: @escaping @Sendable () -> [Show]
    ) async throws {
        await delay.withLock { $0 }()
        if isFull.withLock({ $0 }) { throw Full() }
        let show = read()
        stored.withLock { $0[id] = show }
    }
}

@Suite("Shows and their episodes")
struct ShowDirectoryTests {
    @Test("a show reserves its name, and gives it back when it is deleted")
    func names() async throws {
        let fixture = ShowFixture()
        _ = try await fixture.shows.create(fixture.settings(), seats: [])
        #expect(throws: StageError.roomExists) { try fixture.stage.create(RoomSettings(name: "weekly")) }
        await #expect(throws: StageError.showExists) {
            try await fixture.shows.create(fixture.settings(), seats: [])
        }
        try await fixture.shows.delete("weekly")
        #expect(fixture.store.stored.withLock { $0.isEmpty })
        _ = try fixture.stage.create(RoomSettings(name: "weekly"))
        await #expect(throws: StageError.showExists) {
            try await fixture.shows.create(fixture.settings(), seats: [])
        }
    }

    @Test("an output that is added while a show is live starts at once, and no other does")
    func addedOutput() async throws {
        let fixture = ShowFixture()
        func target(_ name: String) -> OutputTarget {
            OutputTarget(name: name, url: "rtmp://example.com/live", streamKey: "x")
        }
        var settings = fixture.settings()
        settings.outputs = LivestreamPlan([target("one")], LivestreamOptions(), startedAt: 0)
        _ = try await fixture.shows.create(settings, seats: [("ann", "Ann")])
        let episode = try await fixture.shows.plan("weekly", title: "First", at: nil)
        _ = try await fixture.shows.open(episode.id, of: "weekly")
        _ = try await fixture.shows.update("weekly") { $0.outputs?.targets.append(target("two")) }
        #expect(fixture.box.outputs.withLock { $0.isEmpty }, "backstage")
        _ = try await fixture.shows.goLive("current", of: "weekly")
        _ = try await fixture.shows.update("weekly") { $0.outputs?.targets.append(target("three")) }
        _ = try await fixture.shows.update("weekly") { $0.title = "Another" }
        #expect(fixture.box.outputs.withLock { $0 } == [["one", "two"], ["three"]])
        // One that was stopped is added again.
        _ = try await fixture.shows.update("weekly", starting: "one") { $0.title = "Again" }
        #expect(fixture.box.outputs.withLock { $0 } == [["one", "two"], ["three"], ["one"]])
    }

    @Test("an episode opens backstage, goes live, ends, and the next one has the same keys")
    func episodes() async throws {
        let fixture = ShowFixture()
        var settings = fixture.settings()
        settings.isRecorded = true
        settings.outputs = LivestreamPlan(
            [OutputTarget(name: "one", url: "rtmp://example.com/live", streamKey: "x")],
            LivestreamOptions(),
            startedAt: 0
        )
        let show = try await fixture.shows.create(settings, seats: [("ann", "Ann"), ("bo", nil)])
        let ann = try show.seat("ann")
        #expect(fixture.publish(ann) == .failure(.closed(.noEpisodeOpen("none is planned"))))

        var sids: Set<String> = []
        for number in 1...2 {
            let planned = try await fixture.shows.plan("weekly", title: "Number \(number)", at: nil)
            #expect(planned.state == .planned && planned.number == number)
            #expect(try fixture.shows.status(of: "weekly").state == .upcoming)
            let open = try await fixture.shows.open(planned.id, of: "weekly")
            #expect(open.state == .backstage)
            let sid = try #require(open.roomSID)
            #expect(sids.insert(sid).inserted)
            #expect(try fixture.stage.room(sid).isBackstage && fixture.stage.room(sid).participants.isEmpty)

            let grant = try fixture.publish(ann).get()
            #expect(grant.identity == "ann" && grant.roomSID == sid && grant.source == .camera)
            #expect(fixture.stage.publishBegan(grant, connection: UInt64(number)) == .accepted(replacing: nil))
            let screen = fixture.shows.authorizePublish(streamKey: ann.streamKey + ".screen")
            #expect(try screen.get().source == .screen && fixture.stage.room(sid).participants.count == 1)
            #expect(try fixture.shows.status(of: "weekly").state == .upcoming)
            #expect(fixture.box.outputs.withLock { $0.count } == number - 1)

            let live = try await fixture.shows.goLive("current", of: "weekly")
            #expect(live.state == .live && live.wentLiveAt != nil && live.id == planned.id)
            #expect(try !fixture.stage.room(sid).isBackstage)
            #expect(try fixture.shows.status(of: "weekly").state == .live)
            #expect(fixture.box.outputs.withLock { $0.count } == number)
            #expect(fixture.box.recorded.withLock { $0.count } == number)

            // Back and forth starts nothing twice.
            _ = try fixture.stage.stopLive(room: sid)
            #expect(try fixture.shows.show("weekly").current?.state == .backstage)
            _ = try fixture.stage.goLive(room: sid)
            #expect(fixture.box.outputs.withLock { $0.count } == number)

            let ended = try await fixture.shows.end("current", of: "weekly")
            #expect(ended.state == .ended && ended.endReason == .ended && ended.endedAt != nil)
            #expect(try fixture.stage.room(sid).status == .completed)
            #expect(try fixture.shows.status(of: "weekly").state == .ended)
            await #expect(throws: StageError.episodeEnded) { try await fixture.shows.open(planned.id, of: "weekly") }
        }
        #expect(try fixture.shows.show("weekly").seat("ann") == ann)
    }

    @Test("an episode begins with the order of hosts that was set in the one before")
    func hostOrder() async throws {
        let fixture = ShowFixture()
        let show = try await fixture.shows.create(fixture.settings(), seats: [("ann", "Ann"), ("bo", nil)])
        for order in [["Ann", "bo"], ["bo", "Ann"]] {
            _ = try await fixture.shows.plan("weekly", title: "", at: nil)
            let sid = try #require(try await fixture.shows.open("current", of: "weekly").roomSID)
            for identity in ["ann", "bo"] { _ = try fixture.publish(try show.seat(identity)).get() }
            #expect(try fixture.stage.layout(room: sid).tiles.map(\.label) == order)
            try fixture.stage.setHostOrder(room: sid, ["bo"])
            #expect(try fixture.stage.layout(room: sid).tiles.map(\.label) == ["bo", "Ann"])
            _ = try await fixture.shows.end("current", of: "weekly")
        }
    }

    @Test("an episode records its hosts, its layout, and when it was live; up to five hundred moments")
    func moments() async throws {
        let fixture = ShowFixture()
        let show = try await fixture.shows.create(fixture.settings(), seats: [("ann", "Ann"), ("bo", nil)])
        _ = try await fixture.shows.plan("weekly", title: "", at: nil)
        let sid = try #require(try await fixture.shows.open("current", of: "weekly").roomSID)
        for identity in ["ann", "bo"] {
            let grant = try fixture.publish(try show.seat(identity)).get()
            #expect(fixture.stage.publishBegan(grant, connection: 1) == .accepted(replacing: nil))
            fixture.wait(60)
        }
        _ = try await fixture.shows.goLive("current", of: "weekly")
        var layout = LayoutSettings()
        layout.kind = .sidebar
        _ = try fixture.stage.setLayout(room: sid, layout)
        let bo = try fixture.stage.participant("bo", in: sid)
        try fixture.stage.leave(room: sid, participant: bo.sid, reason: .removed)
        _ = try fixture.stage.stopLive(room: sid)
        let moments = try #require(try fixture.shows.show("weekly").current).moments
        #expect(
            moments.map { "\($0.kind.rawValue) \($0.name)" } == [
                "host_joined Ann", "host_joined bo", "went_live ", "layout_changed SIDEBAR", "host_left bo",
                "went_backstage ",
            ]
        )
        #expect(moments[1].at - moments[0].at == 60)
        for _ in 0..<260 {
            _ = try fixture.stage.goLive(room: sid)
            _ = try fixture.stage.stopLive(room: sid)
        }
        let ended = try await fixture.shows.end("current", of: "weekly")
        #expect(ended.moments.count == 500 && Array(ended.moments.prefix(6)) == moments)
        let stored = try #require(fixture.store.stored.withLock { $0[show.id] })
        #expect(stored.last?.moments == ended.moments)
    }

    @Test("an episode whose room is ended in another way has ended")
    func endedByRoom() async throws {
        let fixture = ShowFixture()
        _ = try await fixture.shows.create(fixture.settings(), seats: [])
        let planned = try await fixture.shows.plan("weekly", title: "", at: nil)
        let open = try await fixture.shows.open(planned.id, of: "weekly")
        try fixture.stage.end(room: try #require(open.roomSID))
        let episode = try fixture.shows.episode(planned.id, of: "weekly").episode
        #expect(episode.state == .ended && episode.endReason == .ended)
    }

    @Test("a host is let in from an hour before the planned start, and is told when that is")
    func openingTime() async throws {
        let fixture = ShowFixture()
        var settings = fixture.settings()
        settings.timeZone = "Europe/Berlin"
        let show = try await fixture.shows.create(settings, seats: [("ann", nil)])
        let ann = try show.seat("ann")
        _ = try await fixture.shows.plan("weekly", title: "", at: ShowFixture.start + 7200)
        #expect(
            fixture.publish(ann)
                == .failure(.closed(.noEpisodeOpen("the next one opens at 2027-01-15 10:00:00 Europe/Berlin")))
        )
        fixture.clock.advance(by: .seconds(3601))
        let grant = try fixture.publish(ann).get()
        #expect(try fixture.stage.room(grant.roomSID).isBackstage)
        #expect(try fixture.shows.show("weekly").current?.state == .backstage)
        #expect(try fixture.shows.status(of: "weekly").startsAt == ShowFixture.start + 7200)
    }

    @Test("an episode opens and starts by the clock, and ends an hour after its last host")
    func byTheClock() async throws {
        let fixture = ShowFixture()
        var settings = fixture.settings()
        settings.startsByItself = true
        settings.idleTimeout = 600
        let show = try await fixture.shows.create(settings, seats: [("ann", nil)])
        _ = try await fixture.shows.plan("weekly", title: "", at: ShowFixture.start + 7200)
        fixture.wait(3590, step: 10)
        #expect(try fixture.shows.show("weekly").current == nil)
        fixture.wait(20)
        #expect(try fixture.shows.show("weekly").current?.state == .backstage)
        // Nobody is there yet, which does not end it before it should begin.
        fixture.wait(3580, step: 10)
        #expect(try fixture.shows.show("weekly").current?.state == .backstage)
        fixture.wait(30)
        #expect(try fixture.shows.show("weekly").current?.state == .live)
        let grant = try fixture.publish(try show.seat("ann")).get()
        fixture.stage.publishBegan(grant, connection: 1)
        fixture.stage.publishChanged(grant, connection: 1, media: PublishedMedia(hasVideo: true, hasAudio: true))
        fixture.wait(700, step: 10)
        #expect(try fixture.shows.show("weekly").current?.state == .live)
        fixture.stage.publishEnded(grant, connection: 1)
        fixture.wait(900, step: 10)
        let last = try #require(try fixture.shows.show("weekly").last)
        #expect(last.endReason == .idle)
        #expect(try fixture.stage.room(grant.roomSID).status == .completed)
    }

    @Test("a schedule plans one episode ahead, over a change of the clocks too")
    func schedule() async throws {
        let fixture = ShowFixture()
        var settings = fixture.settings()
        settings.timeZone = "Europe/Berlin"
        settings.schedule = ShowSchedule(weekdays: [.friday], time: "19:00")
        let show = try await fixture.shows.create(settings, seats: [])
        // 19:00 in Berlin is 18:00 UTC in winter.
        let first = try #require(show.next?.plannedAt)
        #expect(Date(timeIntervalSince1970: first).ISO8601Format() == "2027-01-15T18:00:00Z")
        _ = try await fixture.shows.goLive("current", of: "weekly")
        let second = try #require(try fixture.shows.show("weekly").next?.plannedAt)
        #expect(Date(timeIntervalSince1970: second).ISO8601Format() == "2027-01-22T18:00:00Z")
        #expect(try fixture.shows.show("weekly").episodes.count == 2)

        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let friday = ShowSchedule(weekdays: [.friday, .sunday], time: "19:00")
        // The clocks change on 28 March 2027.
        let march = try #require(try? Date("2027-03-26T18:00:00Z", strategy: .iso8601)).timeIntervalSince1970
        let sunday = try #require(friday.next(after: march, in: zone))
        #expect(Date(timeIntervalSince1970: sunday).ISO8601Format() == "2027-03-28T17:00:00Z")
        // 02:30 is skipped that night.
        let night = ShowSchedule(weekdays: [.sunday], time: "02:30")
        let skipped = try #require(night.next(after: march, in: zone))
        #expect(Date(timeIntervalSince1970: skipped).ISO8601Format() == "2027-03-28T01:00:00Z")
    }

    @Test("an episode that nobody opens is missed, and the schedule goes on")
    func missed() async throws {
        let fixture = ShowFixture()
        var settings = fixture.settings()
        settings.schedule = ShowSchedule(weekdays: [.friday], time: "19:00")
        let show = try await fixture.shows.create(settings, seats: [])
        let first = try #require(show.next)
        // The gateway was off for two days.
        let later = ShowFixture(
            shows: Array(fixture.store.stored.withLock { $0.values }),
            startedAt: ShowFixture.start + 2 * 86_400
        )
        later.wait(2)
        let found = try later.shows.episode(first.id, of: "weekly").episode
        #expect(found.endReason == .missed && found.roomSID == nil)
        let next = try #require(try later.shows.show("weekly").next?.plannedAt)
        #expect(Date(timeIntervalSince1970: next).ISO8601Format() == "2027-01-22T19:00:00Z")
        // It never took place, so that there is nothing to look back on.
        #expect(try later.shows.show("weekly").last == nil)
    }

    @Test("an open episode goes on after a restart, and one whose room is gone is lost")
    func restart() async throws {
        let fixture = ShowFixture()
        let show = try await fixture.shows.create(fixture.settings(), seats: [("ann", nil)])
        _ = try await fixture.shows.plan("weekly", title: "", at: nil)
        let live = try await fixture.shows.goLive("current", of: "weekly")
        let sid = try #require(live.roomSID)
        let record = try #require(fixture.stage.record(of: sid))
        let stored = Array(fixture.store.stored.withLock { $0.values })

        let back = ShowFixture(shows: stored, rooms: [record])
        #expect(try back.shows.show("weekly").current?.roomSID == sid)
        #expect(try back.publish(try show.seat("ann")).get().roomSID == sid)
        _ = try await back.shows.end("current", of: "weekly")
        #expect(try back.shows.show("weekly").last?.endReason == .ended)

        let lost = ShowFixture(shows: stored)
        #expect(try lost.shows.show("weekly").last?.endReason == .lost)
        #expect(throws: StageError.roomExists) { try lost.stage.create(RoomSettings(name: "weekly")) }
    }

    @Test("a new key ends the old one at once; a removed host does not come back before the next episode")
    func keys() async throws {
        let fixture = ShowFixture()
        let show = try await fixture.shows.create(fixture.settings(), seats: [("ann", nil), ("bo", nil)])
        _ = try await fixture.shows.plan("weekly", title: "", at: nil)
        let sid = try #require(try await fixture.shows.goLive("current", of: "weekly").roomSID)
        let old = try show.seat("ann")
        _ = try fixture.publish(old).get()
        let new = try await fixture.shows.renewKey(of: "ann", in: "weekly")
        #expect(fixture.publish(old) == .failure(.unknownKey))
        // The host left, so that ingest closes its connection.
        #expect(try fixture.stage.room(sid).participants.isEmpty)
        _ = try fixture.publish(new).get()

        let bo = try show.seat("bo")
        _ = try fixture.publish(bo).get()
        try fixture.stage.leave(room: sid, participant: "bo", reason: .removed)
        #expect(fixture.publish(bo) == .failure(.closed(.participantRemoved)))
        _ = try await fixture.shows.end("current", of: "weekly")
        _ = try await fixture.shows.plan("weekly", title: "", at: nil)
        _ = try await fixture.shows.open("current", of: "weekly")
        _ = try fixture.publish(bo).get()

        try await fixture.shows.removeSeat("bo", of: "weekly")
        #expect(fixture.publish(bo) == .failure(.unknownKey))
        let wrong = String(new.streamKey.dropLast()) + (new.streamKey.hasSuffix("A") ? "B" : "A")
        #expect(fixture.shows.authorizePublish(streamKey: wrong) == .failure(.unknownKey))
    }

    @Test("a removed host connects again once the removal is lifted, which says who removed the host and when")
    func readmission() async throws {
        let fixture = ShowFixture()
        let show = try await fixture.shows.create(fixture.settings(), seats: [("ann", nil), ("bo", nil)])
        _ = try await fixture.shows.plan("weekly", title: "", at: nil)
        let sid = try #require(try await fixture.shows.goLive("current", of: "weekly").roomSID)
        let bo = try show.seat("bo")
        _ = try fixture.publish(bo).get()
        // A host that leaves, or is made to leave without being removed, comes back.
        try fixture.stage.leave(room: sid, participant: "bo", reason: .left, by: "ada")
        #expect(try fixture.shows.show("weekly").current?.removal(of: "bo") == nil)
        _ = try fixture.publish(bo).get()

        fixture.wait(2)
        try fixture.stage.leave(room: sid, participant: "bo", reason: .removed, by: "ada")
        let live = try #require(try fixture.shows.show("weekly").current)
        let removal = try #require(live.removal(of: "bo"))
        #expect(removal.by == "ada" && live.removal(of: "ann") == nil)
        #expect(abs((removal.at ?? 0) - ShowFixture.start - 2) < 0.01)
        #expect(fixture.publish(bo) == .failure(.closed(.participantRemoved)))
        #expect(try JSONDecoder().decode(Episode.self, from: JSONEncoder().encode(live)) == live)

        await #expect(throws: StageError.seatNotFound) { try await fixture.shows.readmit("cy", to: "weekly") }
        try await fixture.shows.readmit("bo", to: "weekly")
        try await fixture.shows.readmit("ann", to: "weekly")
        #expect(try fixture.shows.show("weekly").current?.removal(of: "bo") == nil)
        _ = try fixture.publish(bo).get()
    }

    @Test("what cannot be stored is not changed")
    func full() async throws {
        let fixture = ShowFixture()
        let show = try await fixture.shows.create(fixture.settings(), seats: [("ann", nil)])
        fixture.store.isFull.withLock { $0 = true }
        await #expect(throws: StageError.showNotStored) { try await fixture.shows.renewKey(of: "ann", in: "weekly") }
        #expect(try fixture.shows.show("weekly").seat("ann") == show.seat("ann"))
        await #expect(throws: StageError.showNotStored) {
            try await fixture.shows.create(fixture.settings("other"), seats: [])
        }
        #expect(throws: StageError.showNotFound) { try fixture.shows.show("other") }
        await #expect(throws: StageError.showNotStored) { try await fixture.shows.delete("weekly") }
        #expect(try fixture.shows.show("weekly").id == show.id)
    }

    @Test("a change waits for the disk, keeps what happens to episodes meanwhile, and refuses another change")
    func concurrent() async throws {
        let fixture = ShowFixture()
        _ = try await fixture.shows.create(fixture.settings(), seats: [("ann", nil)])
        let planned = try await fixture.shows.plan("weekly", title: "", at: nil)
        let (gates, gate) = AsyncStream.makeStream(of: Void.self)
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        fixture.store.delay.withLock { delay in
            delay = {
                arrived.yield()
                for await _ in gates { break }
            }
        }
        async let renewed = fixture.shows.renewKey(of: "ann", in: "weekly")
        for await _ in arrivals { break }
        fixture.store.delay.withLock { $0 = {} }
        // The room opens while the change is written.
        let sid = try #require(try await fixture.shows.open(planned.id, of: "weekly").roomSID)
        await #expect(throws: StageError.showBusy) { try await fixture.shows.plan("weekly", title: "", at: nil) }
        await #expect(throws: StageError.episodeOpen) { try await fixture.shows.delete("weekly") }
        gate.yield()
        let seat = try await renewed
        let show = try fixture.shows.show("weekly")
        #expect(show.seats == [seat] && show.current?.roomSID == sid)
        #expect(try await eventually { fixture.store.stored.withLock { $0[show.id] } == show })
    }

    @Test("a room that its episode left behind ends at the next start, and does not block the show")
    func leftRoom() async throws {
        let fixture = ShowFixture()
        _ = try await fixture.shows.create(fixture.settings(), seats: [])
        _ = try await fixture.shows.plan("weekly", title: "", at: nil)
        let sid = try #require(try await fixture.shows.goLive("current", of: "weekly").roomSID)
        let record = try #require(fixture.stage.record(of: sid))
        _ = try await fixture.shows.end("current", of: "weekly")
        // The end of the episode was stored, and that of its room was not.
        let back = ShowFixture(shows: Array(fixture.store.stored.withLock { $0.values }), rooms: [record])
        #expect(try back.stage.room(sid).status == .completed)
        _ = try await back.shows.plan("weekly", title: "", at: nil)
        #expect(try await back.shows.open("current", of: "weekly").state == .backstage)
    }

    @Test("after a restart an episode takes its state from its room")
    func reconciliation() async throws {
        let fixture = ShowFixture()
        var settings = fixture.settings()
        settings.isRecorded = true
        _ = try await fixture.shows.create(settings, seats: [])
        _ = try await fixture.shows.plan("weekly", title: "", at: nil)
        let sid = try #require(try await fixture.shows.open("current", of: "weekly").roomSID)
        let stored = Array(fixture.store.stored.withLock { $0.values })
        _ = try fixture.stage.goLive(room: sid)
        let record = try #require(fixture.stage.record(of: sid))
        let back = ShowFixture(shows: stored, rooms: [record])
        let episode = try #require(try back.shows.show("weekly").current)
        #expect(episode.state == .live && episode.wentLiveAt != nil)
        #expect(back.box.recorded.withLock { $0 } == ["weekly"])
    }

    @Test("a rehearsal days before does not use up the slot, and a moved episode does not double it")
    func slots() async throws {
        let fixture = ShowFixture()
        var settings = fixture.settings()
        settings.schedule = ShowSchedule(weekdays: [.monday], time: "19:00")
        let show = try await fixture.shows.create(settings, seats: [])
        let slot = try #require(show.next?.plannedAt)
        _ = try await fixture.shows.open("current", of: "weekly")
        _ = try await fixture.shows.end("current", of: "weekly")
        #expect(try fixture.shows.show("weekly").next?.plannedAt == slot)

        let next = try #require(try fixture.shows.show("weekly").next)
        _ = try await fixture.shows.updateEpisode(next.id, of: "weekly", title: nil, plannedAt: slot - 86_400)
        _ = try await fixture.shows.goLive("current", of: "weekly")
        _ = try await fixture.shows.end("current", of: "weekly")
        #expect(try fixture.shows.show("weekly").next?.plannedAt == slot + 7 * 86_400)
    }

    @Test("viewers of a room without a show are told what it is")
    func roomWithoutShow() throws {
        let fixture = ShowFixture()
        #expect(throws: StageError.showNotFound) { try fixture.shows.status(of: "open") }
        let room = try fixture.stage.create(RoomSettings(name: "open", backstage: true))
        #expect(try fixture.shows.status(of: "open").state == .upcoming)
        _ = try fixture.stage.goLive(room: room.sid)
        #expect(try fixture.shows.status(of: "open").state == .live)
        try fixture.stage.end(room: room.sid)
        #expect(try fixture.shows.status(of: "open").state == .ended)
        // A sid is no name, and says nothing about a room.
        #expect(throws: StageError.showNotFound) { try fixture.shows.status(of: room.sid) }
    }

    @Test("shows and their keys come back from disk, where neither stands in clear")
    func storage() async throws {
        let folder = try TemporaryFolder("shows")
        let path = folder.file("shows.sqlite")
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let store = ShowStore(path: path, secret: Array(1...32), logger: logger)
        let fixture = ShowFixture()
        let show = try await fixture.shows.create(fixture.settings(), seats: [("ann", "Ann")])
        let other = try await fixture.shows.create(fixture.settings("other"), seats: [])
        for show in [show, other] { try await store.save(show.id, { show }, all: { [] }) }
        try await store.save(other.id, { nil }, all: { [] })
        #expect(ShowStore(path: path, secret: Array(1...32), logger: logger).load().shows == [show])
        // Another secret opens nothing.
        #expect(ShowStore(path: path, secret: Array(2...33), logger: logger).load() == ([], false))
        let secret = try #require(show.seats.first?.streamKey)
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let content = try Data(contentsOf: URL(fileURLWithPath: folder.file(file)))
            #expect(content.range(of: Data(secret.utf8)) == nil && content.range(of: Data("weekly".utf8)) == nil)
        }
    }
}
