import Testing

@testable import FootlightClient
import Stage

@Suite("Call states of the four source systems")
struct CallProjectionTests {
    private static let lobby = LobbyInfo(callID: "studio")

    struct Row: Sendable {
        var phase: CallPhase
        var before: CallState
        var after: CallState
        var calling: CallingState
        var room: RoomState
        var meeting: MeetingState?
    }

    static let rows: [Row] = [
        Row(phase: .idle, before: .initialized, after: .initialized, calling: .idle, room: .disconnected),
        Row(phase: .lobby(lobby), before: .initialized, after: .left, calling: .lobby(lobby), room: .disconnected),
        Row(
            phase: .incoming(CallFixture.invitation),
            before: .initialized,
            after: .left,
            calling: .incoming(CallFixture.invitation),
            room: .disconnected
        ),
        Row(
            phase: .outgoing(CallFixture.ring),
            before: .initialized,
            after: .left,
            calling: .outgoing,
            room: .disconnected
        ),
        same(.joining, .joining, .joining, .connecting, .connecting),
        same(.joined, .joined, .inCall, .connected, .connected),
        same(.reconnecting(.signalling), .joined, .reconnecting, .reconnecting, .reconnecting),
        same(.reconnecting(.media), .joined, .reconnecting, .reconnecting, .reconnecting),
        same(.leaving, .leaving, .idle, .disconnected, .disconnected),
        same(.left(nil), .left, .idle, .disconnected, .disconnected),
        same(.left(.roomFull), .left, .idle, .disconnected, .failed),
    ]

    private static func same(
        _ phase: CallPhase,
        _ call: CallState,
        _ calling: CallingState,
        _ room: RoomState,
        _ meeting: MeetingState
    ) -> Row {
        Row(phase: phase, before: call, after: call, calling: calling, room: room, meeting: meeting)
    }

    @Test("D1 S1 every phase has one state in each vocabulary", arguments: rows)
    func table(row: Row) {
        let first = CallStatus(phase: row.phase)
        let again = CallStatus(phase: row.phase, wasAttempted: true)
        #expect(first.callState == row.before)
        #expect(again.callState == row.after)
        for status in [first, again] {
            #expect(status.callingState == row.calling)
            #expect(status.roomState == row.room)
            #expect(status.meetingState == row.meeting)
        }
    }

    @Test("state names equal those of the source systems")
    func spelling() {
        #expect(CallState.allCases.map(\.rawValue) == ["initialized", "joining", "joined", "leaving", "left"])
        #expect(
            Set(MeetingState.allCases.map(\.rawValue))
                == ["CONNECTING", "CONNECTED", "RECONNECTING", "DISCONNECTED", "FAILED"]
        )
    }

    @Test("D1 D2 a new client is initialized, and after a failed join left, with the error")
    func failure() {
        #expect(CallFixture().machine.status == CallStatus())
        let status = CallFixture.left(.roomFull).machine.status
        #expect(status.callState == .left)
        #expect(status.callingState == .idle)
        #expect(status.error == .roomFull)
    }

    @Test("T14 a requested end has no error, a failure has one")
    func errors() {
        #expect(CallFixture.left().machine.status.error == nil)
        var kicked = CallFixture.joined()
        kicked.send(.sessionDisconnected(.roomCompleted))
        #expect(kicked.machine.status.error?.code == 53118)
        for error in [StageError.callNotConnected, .callConnectionLost] {
            #expect([error.name, error.message, error.cause, error.solution].allSatisfy { !$0.isEmpty })
        }
    }
}
