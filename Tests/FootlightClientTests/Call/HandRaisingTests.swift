import FootlightClient
import FootlightModel
import Stage
import FootlightTesting
import TestSupport
import Testing

@MainActor
@Suite(
    "Raised hands and custom events, between calls on a real gateway",
    .enabled(if: TestRun.isFull),
    .timeLimit(.minutes(1))
)
struct HandRaisingTests {
    @Test("S15 a viewer whose raised hand is accepted becomes a host with an ingest")
    func accepted() async throws {
        let show = try await GatewayFixture()
        let host = try await show.joined("ann", .sendAndReceive)
        let viewer = try await show.joined("bob")
        let log = CallLog(viewer)
        let hand = try await viewer.raiseHand(timeout: 60)
        #expect(try await viewer.raiseHand() == hand, "one hand each")
        #expect(try await soon { host.hands == [hand] && viewer.raisedHand == hand })
        #expect(host.raisedHand == nil)
        let late = try await show.joined("carol")
        #expect(late.hands == [hand], "the snapshot has it")
        #expect(try await host.client.hands(in: show.room).hands == [hand])
        await #expect(throws: StageError.tokenGrantsInvalid) { try await late.acceptHand(hand) }
        try await host.acceptHand(hand)
        #expect(try await soon { viewer.ingest != nil && host.hands.isEmpty })
        #expect(try await soon { host.hosts.map(\.identity) == ["ann", "bob"] })
        await #expect(throws: StageError.hostCannotRaiseHand) { try await viewer.raiseHand() }
        #expect(log.phases == [.joined] && log.problems.isEmpty)
    }

    @Test("S15 a lowered or rejected hand changes no mode, and may be raised again")
    func down() async throws {
        let show = try await GatewayFixture()
        let host = try await show.joined("ann", .sendAndReceive)
        let viewer = try await show.joined("bob")
        let log = CallLog(host)
        try await viewer.raiseHand()
        try await viewer.lowerHand()
        try await viewer.lowerHand()
        let again = try await viewer.raiseHand()
        #expect(try await soon { host.hands == [again] })
        try await host.rejectHand(again)
        #expect(try await soon { viewer.hands.isEmpty && host.hands.isEmpty })
        await #expect(throws: StageError.handNotFound) { try await host.acceptHand(again) }
        #expect(viewer.ingest == nil && viewer.localParticipant?.mode == .receiveOnly)
        let names = log.events.map(\.type.rawValue).filter { $0.hasPrefix("hand.") }
        #expect(names == ["hand.raised", "hand.lowered", "hand.raised", "hand.rejected"])
    }

    @Test("S15 custom events and reactions reach every participant, including the sender, in order")
    func customEvents() async throws {
        let show = try await GatewayFixture()
        let host = try await show.joined("ann", .sendAndReceive)
        let viewer = try await show.joined("bob")
        let streams = [host.customEvents, viewer.customEvents]
        for number in 0..<4 { try await viewer.sendReaction("\(number)") }
        try await host.sendEvent(type: "poll.open", data: ["question": .string("why?")])
        try await show.operatorClient.sendEvent("over", to: show.room)
        for stream in streams {
            var events = stream.makeAsyncIterator()
            for number in 0..<4 {
                let event = await events.next()
                #expect(event?.reaction == "\(number)" && event?.identity == "bob")
            }
            let poll = await events.next()
            #expect(poll?.type == "poll.open" && poll?.data == ["question": .string("why?")] && poll?.reaction == nil)
            #expect(poll?.participantSID == host.localParticipant?.sid)
            let over = await events.next()
            #expect(over?.type == "over" && over?.identity == nil)
        }
        await #expect(throws: StageError.self) { try await viewer.sendEvent(type: "no good") }
        let outside = try await show.call("eve")
        await #expect(throws: StageError.notJoined) { try await outside.sendReaction("x") }
        await #expect(throws: StageError.notJoined) { try await outside.raiseHand() }
    }

    @Test("S16 in a room of the type livestream a call joins as audience, and the stage once its hand is accepted")
    func roomType() async throws {
        let show = try await GatewayFixture { $0.type = .known(.livestream) }
        #expect(try await show.operatorClient.room(show.room).type == .livestream)
        let eager = try await show.call("bob", .sendAndReceive)
        eager.callSettings = CallSettings(isAudioOn: false, isVideoOn: false)
        eager.join(CallJoin(room: show.room, mode: .sendAndReceive))
        #expect(try await soon { eager.code == 4065 })
        #expect(eager.status.error == .speakingNeedsPermission)
        eager.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await eager.reach(.joined)
        try await eager.raiseHand()
        try await show.operatorClient.acceptHand("bob", in: show.room)
        #expect(try await soon { eager.ingest != nil })
    }
}
