import Synchronization
import Testing

@testable import Stage

@Suite("The audience of an event")
struct AudienceUpdateTests {
    @Test("The report is read once, when the first of many readers needs it")
    func readOnce() async {
        let calls = Atomic(0)
        let update = AudienceUpdate(counts: RoomCounts(hosts: 2)) {
            let call = calls.add(1, ordering: .relaxed).newValue
            return RoomViewership(room: "show", concurrent: call, asOf: 1)
        }
        #expect(calls.load(ordering: .relaxed) == 0)
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { update.report.concurrent } }
            for await concurrent in group { #expect(concurrent == 1) }
        }
        #expect(calls.load(ordering: .relaxed) == 1)
    }

    @Test("viewership.updated carries the participants at its time and the report of its room")
    func roomEvent() async throws {
        let directory = RoomDirectory(pepper: [1]) { RoomViewership(room: $0, concurrent: 7, asOf: 1) }
        _ = try directory.create(RoomSettings(name: "show"))
        var events = try directory.events(room: "show", after: nil).makeAsyncIterator()
        _ = await events.next()
        directory.viewershipChanged(room: "show", viewers: 7)
        directory.sweep()
        let event = try #require(await events.next())
        guard case .viewershipUpdated(let update) = event.payload else {
            Issue.record("another event: \(event)")
            return
        }
        _ = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        #expect(update.counts == RoomCounts() && update.report.room == "show" && update.report.concurrent == 7)
    }
}
