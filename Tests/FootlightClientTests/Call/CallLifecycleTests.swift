import FootlightClient
import FootlightTesting
import FootlightModel
import Observation
import Stage
import TestSupport
import Testing

@MainActor
@Suite("A call from the lobby to the end, on a real gateway", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct CallLifecycleTests {
    @Test("D1 D3 D5 U1 U9 U10 U16 U17: idle, lobby, joining, joined, leaving, left, and no participant remains")
    func life() async throws {
        let show = try await GatewayFixture()
        let call = try await show.call("ann")
        let log = CallLog(call)
        #expect(call.status.callState == .initialized)
        call.enterLobby(LobbyInfo(callID: show.room))
        #expect(try await soon { call.lobbyRoom?.uniqueName == show.room })
        call.displayName = "Ann"
        call.callSettings = CallSettings(isSpeakerOn: false)
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        #expect(call.status.callState == .joining && call.status.meetingState == .connecting)
        call.join(CallJoin(room: "other"))
        try await call.reach(.joined)
        #expect(call.localParticipant?.displayName == "Ann", "D8")
        #expect(call.effectiveSettings?.speakerOn == false && call.effectiveSettings?.audioOn == true, "S14")
        #expect(call.playback?.viewerToken != nil && call.ingest == nil)
        call.leave()
        #expect(call.status.callState == .leaving)
        try await call.reach(.left(nil))
        #expect(call.room == nil && call.playback == nil && call.callSettings == CallSettings(), "S11")
        let rest = try await show.operatorClient.participants(of: show.room)
        #expect(rest.participants.isEmpty)
        _ = try await soon { log.phases.last == .left(nil) }
        #expect(
            log.statuses.map(\.callState) == [.initialized, .initialized, .joining, .joined, .leaving, .left]
        )
        #expect(CallPhaseRules.violation(in: log.statuses) == nil)
    }

    @Test("S3 S14 the lobby and the call show the room's device settings, except those that the user has changed")
    func serverDefaults() async throws {
        let show = try await GatewayFixture {
            $0.callSettings = CallSettingsBody(audioOn: false, videoOn: false, speakerOn: false, cameraPosition: "back")
        }
        let model = CallingModel(call: try await show.call("ann", .sendAndReceive), capture: FakeCapture())
        #expect(model.callSettings.audioOn && model.callSettings.cameraPosition == .front)
        model.enterLobby(show.room)
        #expect(try await soon { !model.callSettings.audioOn })
        #expect(!model.callSettings.videoOn && !model.callSettings.speakerOn && model.callSettings.audioOutputOn)
        #expect(model.callSettings.cameraPosition == .back)
        try await model.media.setCamera(true)
        #expect(model.callSettings.videoOn && !model.callSettings.audioOn)
        model.joinCall(show.room)
        try await model.call.reach(.joined)
        #expect(model.call.effectiveSettings?.videoOn == true && model.call.effectiveSettings?.audioOn == false)
        #expect(try await soon { model.media.isCameraOn && !model.media.isMicOn })
        #expect(model.callSettings.cameraPosition == .back && !model.callSettings.speakerOn)
        model.hangUp()
        try await model.call.reach(.left(nil))
    }

    @Test("U10 a host's tracks are published by its settings, and commands change what others see")
    func host() async throws {
        let show = try await GatewayFixture()
        let watcher = try await show.joined("bob")
        let call = try await show.call("ann", .sendAndReceive)
        call.callSettings = CallSettings(isAudioOn: true, isVideoOn: false)
        call.join(CallJoin(room: show.room))
        try await call.reach(.joined)
        let tracks = { watcher.participants.first { $0.identity == "ann" }?.tracks ?? [] }
        #expect(try await soon { tracks().map(\.name) == ["mic"] })
        try await call.publish(.camera)
        #expect(try await soon { tracks().map(\.name.rawValue).sorted() == ["camera", "mic"] })
        try await call.setEnabled(.camera, false)
        #expect(
            try await soon { tracks().contains { $0.name == "camera" && !$0.enabled } }
        )
        await #expect(throws: StageError.trackNameDuplicated) { try await call.publish(.mic) }
        await #expect(throws: StageError.notAHost) { try await watcher.publish(.mic) }
        try await call.unpublish(.mic)
        #expect(try await soon { tracks().map(\.name) == ["camera"] })
        let pin = try await watcher.pin("ann", .camera)
        #expect(pin.isLocal && pin.pinType == "CAM")
        try await watcher.unpin("ann")
        #expect(watcher.room?.hosts.map(\.identity) == ["ann"], "V2")
    }

    @Test("L15 an avatar set before the join is displayed for a host without video, in every later call too")
    func avatar() async throws {
        let show = try await GatewayFixture()
        let watcher = try await show.joined("bob")
        let call = try await show.call("ann", .sendAndReceive)
        call.callSettings = CallSettings(isAudioOn: false, isVideoOn: false)
        call.displayName = "Ann"
        call.avatar = "asset:ann"
        call.join(CallJoin(room: show.room))
        try await call.reach(.joined)
        let ann = { watcher.participants.first { $0.identity == "ann" } }
        #expect(try await soon { ann() != nil })
        let content = try ParticipantTileContent(#require(ann())).content
        #expect(content == .placeholder(.init(status: "No media", name: "Ann", avatar: "asset:ann")))
        call.leave()
        try await call.reach(.left(nil))
        #expect(call.avatar == "asset:ann")
        call.avatar = "ann.png"
        call.join(CallJoin(room: show.room))
        #expect(try await soon { call.code == 3073 })
    }

    @Test("Commands outside a room are refused with 3035, without a request")
    func outside() async throws {
        let show = try await GatewayFixture()
        let call = try await show.call("ann")
        await #expect(throws: StageError.notJoined) { try await call.publish(.mic) }
        #expect(show.proxy.connectionCount == 0)
    }

    @Test("Streams begin with the current value; the audience count follows viewers joining and leaving")
    func streams() async throws {
        let show = try await GatewayFixture()
        let host = try await show.joined("ann", .sendAndReceive)
        let changes = NumberLog()
        withObservationTracking {
            _ = host.audienceCount
        } onChange: {
            changes.append(1)
        }
        for await status in host.statuses {
            #expect(status.phase == .joined)
            break
        }
        for await participants in host.participantLists {
            #expect(participants.map(\.identity) == ["ann"])
            break
        }
        let log = CallLog(host)
        let viewer = try await show.joined("bob")
        #expect(try await soon { log.audience.last == 1 })
        viewer.leave()
        #expect(try await soon { log.audience.last == 0 })
        #expect(log.audience.first == 0 && host.audienceCount == 0)
        #expect(changes.recorded == [1], "observed")
    }

    @Test("Heartbeats are sent every 5 s on the client's clock, as the gateway asks")
    func heartbeats() async throws {
        let server = try ScriptedHTTPServer { request in
            switch request.split(separator: " ").first {
            case "POST" where request.hasSuffix("/heartbeat"): .whole(status: 200, body: "")
            case "POST": .whole(status: 201, body: WireFixtures.joinAnswer(mode: "RECV_ONLY"))
            case "GET": .stream(WireFixtures.snapshot(rev: 1, WireFixtures.participant("ann", mode: "RECV_ONLY")))
            default: .whole(status: 200, body: "")
            }
        }
        defer { server.close() }
        let clock = ManualClientClock()
        let client = BroadcastClient(baseURL: try GatewayFixture.address(server.port), token: "t", clock: clock.clock)
        let call = BroadcastCall(client: client, identity: "ann")
        call.join(CallJoin(room: "show", mode: .receiveOnly))
        try await call.reach(.joined)
        for count in 1...2 {
            let began = clock.now
            let isBeating = try await soon(moving: clock, by: .milliseconds(100)) {
                server.requests.count { $0 == "POST /v1/rooms/RM1/participants/PA-ann/heartbeat" } == count
            }
            #expect(isBeating && clock.now - began >= .seconds(4.5))
        }
        #expect(call.status.phase == .joined)
    }

    @Test("T15 after a response without a room, the stream has two seconds to report the reason")
    func lastWord() async throws {
        let server = try ScriptedHTTPServer { request in
            switch request.split(separator: " ").first {
            case "POST" where request.hasSuffix("/heartbeat"): .whole(status: 200, body: "")
            case "POST": .whole(status: 201, body: WireFixtures.joinAnswer(mode: "RECV_ONLY"))
            case "GET": .stream(WireFixtures.snapshot(rev: 1, WireFixtures.participant("ann", mode: "RECV_ONLY")))
            default: .whole(status: 404, body: "{\"error\":\(WireFixtures.error(53106, name: "RoomNotFoundError"))}")
            }
        }
        defer { server.close() }
        let clock = ManualClientClock()
        let client = BroadcastClient(baseURL: try GatewayFixture.address(server.port), token: "t", clock: clock.clock)
        let call = BroadcastCall(client: client, identity: "ann")
        call.join(CallJoin(room: "show", mode: .receiveOnly))
        try await call.reach(.joined)
        let refusal = await #expect(throws: StageError.self) { try await call.pin("bob") }
        #expect(refusal?.code == 53106)
        let began = clock.now
        #expect(call.status.phase == .joined, "the stream stands and has not spoken")
        #expect(
            try await soon(moving: clock, by: .milliseconds(50)) { call.status.phase != .joined }
        )
        #expect(call.status.error == .roomGone, "a call that stood is not told to create the room: \(call.status)")
        // The clock moves in steps, so the test observes it late.
        #expect((1.9...4).contains((clock.now - began) / .seconds(1)), "\(clock.now - began)")
    }
}
