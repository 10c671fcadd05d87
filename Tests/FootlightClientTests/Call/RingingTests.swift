import FootlightClient
import FootlightTesting
import FootlightModel
import Stage
import Testing

@MainActor
@Suite("Ringing calls between apps over a real gateway", .timeLimit(.minutes(2)))
struct RingingTests {
    private func isIncoming(_ model: CallingModel) -> Bool {
        if case .incoming(let invitation) = model.callingState { invitation.inviter == "ann" } else { false }
    }

    @Test("U6 U7 U8 S5 S6 S7 a ring that is rejected, cancelled or accepted: both sides agree at every step")
    func outgoing() async throws {
        let show = try await GatewayFixture()
        // Inviting from outside the room requires the right to.
        let caller = CallingModel(
            call: try await show.call("ann", .sendAndReceive, rights: ["participants"]),
            capture: FakeCapture()
        )
        let guest = CallingModel(call: try await show.call("bob"), capture: FakeCapture())
        let log = CallLog(caller.call)
        guest.listen()
        let ring = {
            caller.startCall(show.room, members: ["ann", "bob"], ring: true)
            #expect(caller.callingState == .outgoing && caller.error == nil)
        }

        ring()
        #expect(try await soon { isIncoming(guest) && guest.isRinging && caller.isRinging })
        guest.rejectCall()
        #expect(try await soon { caller.callingState == .idle && !caller.isRinging })
        #expect(caller.error == nil && guest.callingState == .idle)

        ring()
        #expect(try await soon { isIncoming(guest) })
        caller.hangUp()
        #expect(caller.callingState == .idle)
        #expect(try await soon { guest.callingState == .idle && !guest.isRinging })

        ring()
        #expect(try await soon { isIncoming(guest) })
        guest.acceptCall()
        #expect(try await soon { caller.callingState == .inCall && guest.callingState == .inCall })
        #expect(try await soon { !caller.isRinging && !guest.isRinging }, "S12")
        #expect(
            try await soon {
                caller.participants.map(\.identity) == ["bob"] && guest.participants.map(\.identity) == ["ann"]
            }
        )
        #expect(CallPhaseRules.violation(in: log.statuses) == nil)
    }

    @Test("U6 S5 a ring that the gateway refuses, or whose room ends, ends at once; a refusal is reported")
    func refused() async throws {
        let show = try await GatewayFixture()
        let caller = CallingModel(call: try await show.call("eve"), capture: FakeCapture())
        caller.startCall(show.room, members: ["bob"], ring: true)
        #expect(try await soon { caller.callingState == .idle })
        #expect(caller.error != nil)
        let other = CallingModel(
            call: try await show.call("ann", .sendAndReceive, rights: ["participants"]),
            capture: FakeCapture()
        )
        let guest = CallingModel(call: try await show.call("bob"), capture: FakeCapture())
        guest.listen()
        other.startCall(show.room, members: ["bob"], ring: true)
        #expect(try await soon { isIncoming(guest) })
        try await show.operatorClient.endRoom(show.room)
        // The answer to a ring that comes after the end of the room leaves the ring to its timeout of half a minute.
        #expect(
            try await soon(within: .seconds(45)) { other.callingState == .idle && guest.callingState == .idle }
        )
        #expect(other.error == nil)
    }
}
