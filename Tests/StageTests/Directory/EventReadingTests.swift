import Stage
import Testing

@Suite("Reading a room's events")
struct EventReadingTests {
    private let directory = RoomDirectory(
        settings: StageSettings(replayedEvents: 8, waitingEvents: 10, maximumReaders: 3),
        pepper: []
    )

    init() throws {
        _ = try directory.create(RoomSettings(name: "show"))
    }

    private func join(_ identity: String, _ mode: ParticipantMode = .receiveOnly) throws {
        _ = try directory.join(room: "show", JoinRequest(identity: identity, mode: mode))
    }

    /// Returns all events until the stream ends.
    private func rest(of stream: AsyncStream<StageEvent>) async -> [StageEvent] {
        await stream.reduce(into: []) { $0.append($1) }
    }

    @Test("a stream starts with a snapshot of the current revision and ends with the room")
    func snapshotFirst() async throws {
        try join("ann", .sendAndReceive)
        let stream = try directory.events(room: "show", after: nil)
        try join("ben")
        try directory.end(room: "show")
        let events = await rest(of: stream)
        #expect(events.map(\.name) == [.roomSnapshot, .participantJoined, .roomEnded])
        #expect(events.map(\.revision) == [3, 4, 5])
        guard case .snapshot(let room) = events[0].payload else {
            Issue.record("no snapshot: \(events[0].payload)")
            return
        }
        #expect(room.participants.map(\.identity) == ["ann"])
        #expect(room.tiles.map(\.label) == ["ann"])
        #expect(directory.readerCount == 0)
    }

    @Test("a returning reader receives exactly the missed events, without a snapshot")
    func replay() async throws {
        try join("ann", .sendAndReceive)
        try join("ben")
        let stream = try directory.events(room: "show", after: 2)
        try join("eve")
        try directory.end(room: "show")
        let events = await rest(of: stream)
        #expect(events.map(\.revision) == [3, 4, 5, 6])
        #expect(events.map(\.name) == [.layoutChanged, .participantJoined, .participantJoined, .roomEnded])
    }

    @Test("a reader without missed events receives only new ones")
    func upToDate() async throws {
        let stream = try directory.events(room: "show", after: 1)
        try directory.end(room: "show")
        #expect(await rest(of: stream).map(\.name) == [.roomEnded])
    }

    @Test("a reader that missed evicted events, or names an unknown revision, receives a snapshot")
    func tooFarBehind() async throws {
        for number in 0..<9 { try join("p\(number)") }
        // Ten events happened; eight are remembered, so revision 2 is the oldest that can be continued from.
        for (after, first) in [(0, StageEvent.Name.roomSnapshot), (1, .roomSnapshot), (2, .participantJoined)] {
            let subscription = try directory.subscribe(room: "show", after: UInt64(after))
            subscription.cancel()
            let events = await rest(of: subscription.events)
            #expect(events.first?.name == first)
            #expect(events.last?.revision == 10)
        }
        let future = try directory.subscribe(room: "show", after: 11)
        future.cancel()
        #expect(await rest(of: future.events).map(\.name) == [.roomSnapshot])
        let never = try directory.subscribe(room: "show", after: .max)
        never.cancel()
        #expect(await rest(of: never.events).map(\.name) == [.roomSnapshot])
        #expect(directory.readerCount == 0)
    }

    @Test("a stalled reader is disconnected with a final event, without affecting others")
    func slowReader() async throws {
        let slow = try directory.events(room: "show", after: nil)
        let quick = try directory.events(room: "show", after: nil)
        var iterator = quick.makeAsyncIterator()
        #expect(await iterator.next()?.name == .roomSnapshot)
        for number in 0..<40 {
            try join("p\(number)")
            #expect(await iterator.next()?.name == .participantJoined)
        }
        #expect(directory.readerCount == 1)
        let events = await rest(of: slow)
        // The snapshot, ten queued events, the one that overflowed, and the final event.
        #expect(events.count == 13)
        #expect(events.last?.payload == .sessionDisconnected(.readerTooSlow))
        #expect(events.dropLast().map(\.revision) == Array(1...12))
        try join("last")
        #expect(await iterator.next()?.name == .participantJoined)
    }

    @Test("T17 the older session of an identity receives duplicateIdentity, and its stream ends")
    func duplicateIdentity() async throws {
        try join("ann", .sendAndReceive)
        let old = try directory.events(room: "show", after: nil, participant: "ann")
        try join("ann", .sendAndReceive)
        let events = await rest(of: old)
        #expect(events.map(\.name) == [.roomSnapshot, .participantLeft, .sessionDisconnected])
        #expect(events.last?.payload == .sessionDisconnected(.duplicateIdentity))
        #expect(try directory.room("show").counts.hosts == 1)
    }

    @Test("a participant's own stream ends when it leaves, an observer's goes on")
    func leaving() async throws {
        try join("ann")
        let own = try directory.events(room: "show", after: nil, participant: "ann")
        let onlooker = try directory.subscribe(room: "show", after: nil)
        try directory.leave(room: "show", participant: "ann", reason: .left)
        #expect(await rest(of: own).map(\.name) == [.roomSnapshot, .participantLeft])
        #expect(directory.readerCount == 1)
        onlooker.cancel()
        #expect(await rest(of: onlooker.events).map(\.name) == [.roomSnapshot, .participantLeft])
        #expect(directory.readerCount == 0)
    }

    @Test("A heartbeat reaches every reader, takes no revision, and is not replayed")
    func heartbeat() async throws {
        let record = directory.observe { event in
            if event.name == .heartbeat { Issue.record("observers have no use for heartbeats") }
        }
        let stream = try directory.subscribe(room: "show", after: nil)
        directory.broadcastHeartbeat()
        directory.broadcastHeartbeat()
        stream.cancel()
        let events = await rest(of: stream.events)
        #expect(events.map(\.name) == [.roomSnapshot, .heartbeat, .heartbeat])
        #expect(events.map(\.revision) == [1, 1, 1])
        let late = try directory.subscribe(room: "show", after: 1)
        late.cancel()
        #expect(await rest(of: late.events).isEmpty)
        record.cancel()
    }

    @Test("A dropped stream leaves no reader behind, and one reader more than allowed is refused")
    func readers() async throws {
        do {
            let stream = try directory.events(room: "show", after: nil)
            #expect(directory.readerCount == 1)
            _ = consume stream
        }
        #expect(directory.readerCount == 0)
        let subscriptions = try (0..<3).map { _ in try directory.subscribe(room: "show", after: nil) }
        let error = #expect(throws: StageError.self) { try directory.events(room: "show", after: nil) }
        #expect(error?.code == 53006)
        for subscription in subscriptions { subscription.cancel() }
        #expect(directory.readerCount == 0)
    }

    @Test("refuses a stream of an unknown or ended room, or of an unknown participant")
    func refusals() throws {
        #expect(#expect(throws: StageError.self) { try directory.events(room: "x", after: nil) }?.code == 53106)
        let unknown = #expect(throws: StageError.self) {
            try directory.events(room: "show", after: nil, participant: "zoe")
        }
        #expect(unknown?.code == 53204)
        try directory.end(room: "show")
        #expect(#expect(throws: StageError.self) { try directory.events(room: "show", after: nil) }?.code == 53106)
    }

    @Test("livestream events are ordered among the room's events")
    func livestream() async throws {
        let stream = try directory.events(room: "show", after: nil)
        let output = OutputStatus(name: "yt", url: "rtmp://a/b", maskedStreamKey: "****wxyz", state: .connected)
        let status = LivestreamStatus(state: .started, startedAt: 5, outputs: [output])
        directory.livestreamChanged(room: "show", status)
        directory.outputChanged(room: "show", output)
        directory.livestreamChanged(room: "unknown", status)
        try directory.end(room: "show")
        directory.outputChanged(room: "show", output)
        let events = await rest(of: stream)
        #expect(
            events.map(\.name) == [.roomSnapshot, .livestreamStateChanged, .livestreamOutputUpdated, .roomEnded]
        )
        #expect(events[1].payload == .livestreamStateChanged(status))
        #expect(events.map(\.revision) == [1, 2, 3, 4])
    }
}
