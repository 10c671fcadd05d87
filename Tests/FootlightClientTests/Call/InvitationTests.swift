import FootlightClient
import FootlightModel
import Stage
import FootlightTesting
import TestSupport
import Testing

@MainActor
@Suite("Invitations, between calls on a real gateway", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct InvitationTests {
    @Test(
        "U20 V17 V19 a viewer that accepts an invitation to the stage becomes a host with an ingest"
    )
    func onStage() async throws {
        let show = try await GatewayFixture()
        let host = try await show.joined("ann", .sendAndReceive)
        // By the room's sid, while invitations name it by its unique name.
        let viewer = try await show.call("bob")
        viewer.callSettings = CallSettings(isAudioOn: false, isVideoOn: false)
        viewer.join(CallJoin(room: try await show.operatorClient.room(show.room).sid, mode: .receiveOnly))
        try await viewer.reach(.joined)
        let log = CallLog(viewer)
        #expect(viewer.ingest == nil && host.ingest != nil)
        await #expect(throws: StageError.changeModeFailed) { try await viewer.changeMode(.sendAndReceive) }
        try await host.invite(CreateInvitationBody(identities: ["bob"]))
        #expect(try await soon { viewer.stageInvitation?.inviter == "ann" })
        #expect(viewer.status.phase == .joined)
        viewer.accept()
        #expect(try await soon { viewer.ingest != nil })
        #expect(viewer.stageInvitation == nil)
        #expect(try await soon { host.hosts.map(\.identity) == ["ann", "bob"] })
        // V16, and back again.
        try await viewer.changeMode(.receiveOnly)
        #expect(viewer.ingest == nil)
        #expect(try await soon { host.hosts.map(\.identity) == ["ann"] })
        #expect(log.phases == [.joined], "U19: none of it is a change of the call's state")
        #expect(log.problems.isEmpty)
    }

    @Test("U3 U4 S6 S7 an incoming call is accepted and joined with the invitation")
    func incoming() async throws {
        let show = try await GatewayFixture()
        let host = try await show.joined("ann", .sendAndReceive)
        let guest = try await show.call("carol")
        let log = CallLog(guest)
        guest.callSettings = CallSettings(isAudioOn: false, isVideoOn: false)
        guest.startListening()
        try await host.invite(CreateInvitationBody(identities: ["carol", "dan"]))
        #expect(
            try await soon {
                if case .incoming(let invitation) = guest.status.callingState {
                    invitation.inviter == "ann"
                } else {
                    false
                }
            }
        )
        guest.accept()
        try await guest.reach(.joined)
        #expect(guest.localParticipant?.mode == "SEND_AND_RECV" && guest.ingest != nil)
        _ = try await soon { log.phases.last == .joined }
        #expect(CallPhaseRules.violation(in: log.statuses) == nil)
        guest.stopListening()
    }

    @Test("U5 S7 a cancelled incoming call ends; a rejection is reported to the caller")
    func calledBack() async throws {
        let show = try await GatewayFixture()
        let host = try await show.joined("ann", .sendAndReceive)
        let hostLog = CallLog(host)
        let guest = try await show.call("carol")
        guest.startListening()
        let first = try await host.invite(CreateInvitationBody(identities: ["carol"]))
        let isIncoming = {
            if case .incoming = guest.status.phase { true } else { false }
        }
        #expect(try await soon { isIncoming() })
        try await host.client.cancelInvitation(first.sid)
        try await guest.reach(.idle)
        try await host.invite(CreateInvitationBody(identities: ["carol"]))
        #expect(try await soon { isIncoming() })
        guest.reject()
        #expect(guest.status.phase == .idle)
        #expect(
            try await soon {
                hostLog.events.contains { $0.type == "invitation.rejected" && $0.identities == ["carol"] }
            }
        )
    }
}
