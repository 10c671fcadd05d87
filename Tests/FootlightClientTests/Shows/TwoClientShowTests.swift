import FootlightClient
import FootlightTesting
import Foundation
import GatewayModel
import Stage
import Testing

@MainActor
@Suite("Two clients in a show, over a real gateway", .timeLimit(.minutes(1)))
struct TwoClientShowTests {
    /// Notes down how the connection fares.
    private final class Listener: RoomListening {
        var heard: [String] = []

        func roomDidConnect(_ call: BroadcastCall) { heard.append("connected") }
        func room(_ call: BroadcastCall, isReconnecting error: StageError) { heard.append("lost \(error.code)") }
        func roomDidReconnect(_ call: BroadcastCall) { heard.append("back") }
        func room(_ call: BroadcastCall, didDisconnect error: StageError?) {
            heard.append("left \(error?.code.description ?? "nil")")
        }
    }

    private func meeting(_ show: Show, _ identity: String, _ mode: ParticipantMode) async throws -> MeetingModel {
        let model = MeetingModel(call: try await show.call(identity, mode), capture: FakeCapture())
        model.join(show.room, mode: mode)
        #expect(model.meetingState == .connecting)
        try await model.call.reach(.joined)
        return model
    }

    @Test("T1 T9 V2 V10 joining, muting, holding: the viewer sees what the host does, and is counted, not shown")
    func mute() async throws {
        let show = try await Show()
        let viewer = try await meeting(show, "bob", .receiveOnly)
        let host = try await meeting(show, "ann", .sendAndReceive)
        let tracks = { viewer.hosts.first?.tracks.map { "\($0.name) \($0.enabled)" }.sorted() }
        #expect(try await soon(within: .seconds(5)) { tracks() == ["camera true", "mic true"] })
        #expect(host.hosts.map(\.identity) == ["ann"] && !host.isAudienceMode && viewer.isAudienceMode)
        #expect(try await soon(within: .seconds(5)) { host.audienceCount == 1 })
        let sid = viewer.hosts.first?.track(.mic)?.sid
        try await host.media.setMic(false)
        #expect(try await soon(within: .seconds(5)) { tracks() == ["camera true"] } && !host.media.isMicOn)
        await host.media.cameraInterruptionBegan()
        #expect(try await soon(within: .seconds(5)) { tracks() == ["camera false"] }, "T10")
        await host.media.cameraInterruptionEnded()
        try await host.media.setMic(true)
        #expect(try await soon(within: .seconds(5)) { tracks() == ["camera true", "mic true"] })
        #expect(sid != nil && viewer.hosts.first?.track(.mic)?.sid != sid, "a new track")
        host.leave()
        #expect(try await soon(within: .seconds(5)) { viewer.hosts.isEmpty })
    }

    @Test("S10 T16 a loss of the network: reconnecting, and back in the call with everybody in it")
    func network() async throws {
        let show = try await Show()
        let watcher = try await meeting(show, "bob", .receiveOnly)
        let model = CallingModel(call: try await show.call("ann", .sendAndReceive), capture: FakeCapture())
        let listener = Listener()
        let observer = RoomObserver(model.call, listener)
        model.joinCall(show.room)
        try await model.call.reach(.joined)
        #expect(try await soon(within: .seconds(5)) { watcher.hosts.first?.tracks.count == 2 })
        show.proxy.mode = .cut
        #expect(try await soon(within: .seconds(10)) { model.callingState == .reconnecting })
        show.proxy.mode = .pass
        #expect(try await soon(within: .seconds(15)) { model.callingState == .inCall })
        #expect(try await soon(within: .seconds(5)) { listener.heard == ["connected", "lost 53001", "back"] })
        #expect(model.callParticipants.count == 2)
        withExtendedLifetime(observer) {}
    }

    @Test("D4 D5 T17 full, taken over, ended: each ends the call with its error, seen by every model")
    func ends() async throws {
        let show = try await Show(CreateRoomBody(uniqueName: "show", maxParticipants: 1))
        let capture = FakeCapture()
        let first = LiveCall(call: try await show.call("ann", .sendAndReceive), capture: capture)
        let url = try Show.address(show.proxy.port).appendingPathComponent(show.room)
        await first.prepare()
        first.join(url: url)
        #expect(first.callState == .joining)
        try await first.call.reach(.joined)
        #expect(try await soon(within: .seconds(5)) { first.participants.local.camera != .off })
        let late = CallingModel(call: try await show.call("bob"), capture: FakeCapture())
        late.joinCall(show.room, mode: .receiveOnly)
        #expect(try await soon(within: .seconds(5)) { late.callingState == .idle && late.error?.code == 53105 })
        let second = try await meeting(show, "ann", .sendAndReceive)
        #expect(try await soon(within: .seconds(5)) { first.error?.code == 53205 })
        #expect(first.callState == .left)
        #expect(try await soon(within: .seconds(5)) { capture.running == [.camera] && first.participants.count == 1 })
        try await show.operatorClient.endRoom(show.room)
        #expect(
            try await soon(within: .seconds(5)) { [53118, 53106].contains(second.error?.code) },
            "\(String(describing: second.error))"
        )
        #expect(try await soon(within: .seconds(5)) { second.hosts.isEmpty })
        #expect(second.meetingState == .failed)
    }
}
