import FootlightClient
import Foundation
import TestSupport
import Testing

@MainActor
@Suite("What finishes with a call", .timeLimit(.minutes(1)))
struct CallEndTests {
    @Test("The streams of a call finish when it ends, and those made for the next call begin again")
    func streams() async throws {
        let show = try await GatewayFixture()
        let call = try await show.call("ann", .receiveOnly)
        let statuses = Task { [statuses = call.statuses] in
            var phases: [CallPhase] = []
            for await status in statuses { phases.append(status.phase) }
            return phases
        }
        let others = [
            Task { [lists = call.participantLists] in for await _ in lists {} },
            Task { [counts = call.audienceCounts] in for await _ in counts {} },
            Task { [events = call.events] in for await _ in events {} },
            Task { [problems = call.problems] in for await _ in problems {} },
            Task { [events = call.customEvents] in for await _ in events {} },
        ]
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.joined)
        call.leave()
        #expect(await statuses.value == [.idle, .joining, .joined, .leaving, .left(nil)])
        for other in others { await other.value }

        let again = Task { [statuses = call.statuses] in
            var phases: [CallPhase] = []
            for await status in statuses { phases.append(status.phase) }
            return phases
        }
        call.join(CallJoin(room: "nowhere", mode: .receiveOnly))
        let phases = await again.value
        #expect(phases.prefix(2) == [.left(nil), .joining] && call.code != nil)
    }

    @Test("A model without capture joins the audience, and its devices stay off")
    func audience() async throws {
        let show = try await GatewayFixture()
        let model = MeetingModel(call: try await show.call("bob", .receiveOnly))
        model.join(show.room, mode: .receiveOnly)
        try await model.call.reach(.joined)
        #expect(model.isAudienceMode)
        #expect(await NoCapture().isAuthorized(for: .camera) == false)
        await #expect(throws: StageError.captureMissing) { try await NoCapture().start(.mic, camera: .front) }
        model.leave()
        #expect(try await soon { model.call.status.phase == .left(nil) })
        // The model outlives its calls.
        model.join(show.room, mode: .receiveOnly)
        #expect(try await soon { model.meetingState == .connected })
        model.leave()
    }

    @Test("Publishing ends with the call, with the role, and with the source")
    func publishing() async throws {
        let show = try await GatewayFixture()
        let call = try await show.call("ann", .sendAndReceive, or: [.receiveOnly])
        await #expect(throws: StageError.notAHost) { try await call.publish(from: PatternMediaSource()) }
        call.join(CallJoin(room: show.room))
        try await call.reach(.joined)
        let first = Task { try await call.publish(from: PatternMediaSource()) }
        #expect(
            try await soon {
                try await show.operatorClient.participants(of: show.room).participants.first?.isMicOn == true
            }
        )
        try await call.changeMode(.receiveOnly)
        try await first.value
        #expect(call.status.phase == .joined)

        try await call.changeMode(.sendAndReceive)
        try await call.publish(from: BriefSource())
        #expect(call.status.phase == .joined)

        let second = Task { try await call.publish(from: PatternMediaSource()) }
        try await Task.sleep(for: .milliseconds(200))
        call.leave()
        try await second.value
        #expect(try await soon { call.status.phase == .left(nil) })
    }

    /// A source that ends at once.
    private struct BriefSource: MediaSource {
        func produce(_ send: @escaping @Sendable (MediaPacket) -> Void) async throws {}
    }
}
