import FootlightClient
import FootlightTesting
import Foundation
import FootlightModel
import Stage
import TestSupport
import Testing

@MainActor
@Suite("Two clients in a show, over a real gateway", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct TwoClientTests {
    /// Records the state of the connection.
    private final class Listener: RoomListener {
        var received: [String] = []

        func roomDidConnect(_ call: BroadcastCall) { received.append("connected") }
        func room(_ call: BroadcastCall, isReconnecting error: StageError) { received.append("lost \(error.code)") }
        func roomDidReconnect(_ call: BroadcastCall) { received.append("back") }
        func room(_ call: BroadcastCall, didDisconnect error: StageError?) {
            received.append("left \(error?.code.description ?? "nil")")
        }
    }

    private func meeting(
        _ show: GatewayFixture,
        _ identity: String,
        _ mode: ParticipantMode
    ) async throws -> MeetingModel {
        let model = MeetingModel(call: try await show.call(identity, mode), capture: FakeCapture())
        model.join(show.room, mode: mode)
        #expect(model.meetingState == .connecting)
        try await model.call.reach(.joined)
        return model
    }

    @Test("T1 T9 V2 V10 joining, muting, holding: the viewer sees the host's changes, and is counted, not displayed")
    func mute() async throws {
        let show = try await GatewayFixture()
        let viewer = try await meeting(show, "bob", .receiveOnly)
        let host = try await meeting(show, "ann", .sendAndReceive)
        let tracks = { viewer.hosts.first?.tracks.map { "\($0.name) \($0.enabled)" }.sorted() }
        #expect(try await soon { tracks() == ["camera true", "mic true"] })
        #expect(host.hosts.map(\.identity) == ["ann"] && !host.isAudienceMode && viewer.isAudienceMode)
        #expect(try await soon { host.audienceCount == 1 })
        let sid = viewer.hosts.first?.track(.mic)?.sid
        try await host.media.setMic(false)
        #expect(try await soon { tracks() == ["camera true"] } && !host.media.isMicOn)
        await host.media.cameraInterruptionBegan()
        #expect(try await soon { tracks() == ["camera false"] }, "T10")
        await host.media.cameraInterruptionEnded()
        try await host.media.setMic(true)
        #expect(try await soon { tracks() == ["camera true", "mic true"] })
        await host.media.audioInterruptionBegan()
        #expect(try await soon { tracks() == ["camera true", "mic false"] }, "T21")
        await host.media.audioInterruptionEnded()
        #expect(try await soon { tracks() == ["camera true", "mic true"] })
        #expect(sid != nil && viewer.hosts.first?.track(.mic)?.sid != sid, "a new track")
        host.leave()
        #expect(try await soon { viewer.hosts.isEmpty })
    }

    @Test("S10 T16 a network loss: reconnecting, and back in the call with all participants")
    func network() async throws {
        let show = try await GatewayFixture()
        let watcher = try await meeting(show, "bob", .receiveOnly)
        let model = CallingModel(call: try await show.call("ann", .sendAndReceive), capture: FakeCapture())
        let listener = Listener()
        let observer = RoomObserver(model.call, listener)
        model.joinCall(show.room)
        try await model.call.reach(.joined)
        #expect(try await soon { watcher.hosts.first?.tracks.count == 2 })
        show.proxy.mode = .cut
        #expect(try await soon { model.callingState == .reconnecting })
        show.proxy.mode = .pass
        #expect(try await soon { model.callingState == .inCall })
        #expect(try await soon { listener.received == ["connected", "lost 53001", "back"] })
        #expect(model.callParticipants.count == 2 && model.media.isCameraOn && model.media.isMicOn)
        let tracks = { watcher.hosts.first?.tracks.map { "\($0.name) \($0.enabled)" }.sorted() }
        #expect(try await soon { tracks() == ["camera true", "mic true"] }, "on the air again")
        withExtendedLifetime(observer) {}
    }

    @Test("V15 V17 V18 V19 stepping down, being demoted, being invited: devices and every view follow the mode")
    func modes() async throws {
        let show = try await GatewayFixture()
        let viewer = try await meeting(show, "bob", .receiveOnly)
        let host = MeetingModel(
            call: try await show.call("ann", .sendAndReceive, or: [.receiveOnly], rights: ["participants"]),
            capture: FakeCapture()
        )
        host.join(show.room, mode: .sendAndReceive)
        try await host.call.reach(.joined)
        #expect(try await soon { viewer.hosts.first?.tracks.count == 2 })
        try await host.media.setMic(false)
        try await host.changeMode(.receiveOnly)
        #expect(host.isAudienceMode && !host.media.isCameraOn && host.call.ingest == nil)
        #expect(try await soon { viewer.hosts.isEmpty && viewer.audienceCount == 2 })
        try await host.changeMode(.sendAndReceive)
        #expect(!host.isAudienceMode && host.call.ingest != nil)
        let tracks = { viewer.hosts.first?.tracks.map(\.name) }
        #expect(try await soon { tracks() == ["camera"] && host.media.isCameraOn })

        await #expect(throws: StageError.changeModeFailed) { try await viewer.changeMode(.sendAndReceive) }
        #expect(viewer.isAudienceMode && viewer.call.status.phase == .joined)
        try await host.call.invite(CreateInvitationBody(identities: ["bob"]))
        #expect(try await soon { viewer.call.stageInvitation?.inviter == "ann" })
        viewer.call.accept()
        #expect(try await soon { !viewer.isAudienceMode && viewer.call.ingest != nil })
        #expect(try await soon { host.hosts.map(\.identity).sorted() == ["ann", "bob"] })
        #expect(try await soon { viewer.media.isCameraOn && viewer.media.isMicOn })

        try await host.call.client.changeMode(of: "bob", in: show.room, to: .receiveOnly)
        #expect(try await soon { viewer.isAudienceMode && !viewer.media.isCameraOn })
        #expect(try await soon { host.hosts.map(\.identity) == ["ann"] })
        // The count has an event of its own.
        #expect(try await soon { viewer.audienceCount == 1 })
        #expect(viewer.call.ingest == nil && viewer.call.status.phase == .joined)
    }

    @Test("T15 53006 busy: a model joins once there is capacity, and otherwise reports when to retry")
    func busy() async throws {
        let show = try await GatewayFixture(environment: [
            "FOOTLIGHT_ROOMS_MAXIMUM": "1", "FOOTLIGHT_ROOMS_AD_HOC": "true",
        ])
        let clock = ManualClientClock()
        let call = try await show.call("ann", room: "second", clock: clock.clock)
        let model = MeetingModel(call: call, capture: FakeCapture())
        let listener = Errors()
        model.listener = listener
        model.join("second", mode: .receiveOnly)
        let isOver = try await soon(moving: clock, by: .milliseconds(250), over: show.proxy) {
            model.meetingState == .failed
        }
        let error = try #require(model.error)
        #expect(isOver && error.code == 53006 && error.status == 503 && error.isRetryable)
        #expect(error.retryAfter.map { $0 > 0 } == true, "Retry-After: \(error)")
        #expect(try await soon { listener.codes == [53006] })
        model.join("second", mode: .receiveOnly)
        #expect(model.meetingState == .connecting && model.error == nil)
        try await show.operatorClient.endRoom(show.room)
        try await call.reach(.joined, moving: clock, by: .milliseconds(250), over: show.proxy)
        #expect(model.meetingState == .connected && listener.codes == [53006])
    }

    /// Records the codes of errors.
    private final class Errors: MeetingListener {
        var codes: [Int] = []

        func onError(_ error: StageError) { codes.append(error.code) }
    }

    @Test("D4 D5 T17 full, replaced, ended: each ends the call with its error, visible in every model")
    func ends() async throws {
        let show = try await GatewayFixture { $0.maxParticipants = 1 }
        let capture = FakeCapture()
        let first = LiveCall(call: try await show.call("ann", .sendAndReceive), capture: capture)
        let url = try GatewayFixture.address(show.proxy.port).appendingPathComponent(show.room)
        await first.prepare()
        first.join(url: url)
        #expect(first.callState == .joining)
        try await first.call.reach(.joined)
        #expect(try await soon { first.participants.local.camera != .off })
        let late = CallingModel(call: try await show.call("bob"), capture: FakeCapture())
        late.joinCall(show.room, mode: .receiveOnly)
        #expect(try await soon { late.callingState == .idle && late.error?.code == 53105 })
        let second = try await meeting(show, "ann", .sendAndReceive)
        #expect(try await soon { first.error?.code == 53205 })
        #expect(first.callState == .left)
        #expect(try await soon { capture.running == [.camera] && first.participants.count == 1 })
        try await show.operatorClient.endRoom(show.room)
        #expect(
            try await soon { second.error?.code == 53118 },
            "\(String(describing: second.error))"
        )
        #expect(try await soon { second.hosts.isEmpty })
        #expect(second.meetingState == .failed)
    }
}
