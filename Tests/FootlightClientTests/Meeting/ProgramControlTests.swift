import FootlightTesting
import FootlightModel
import Media
import Stage
import TestSupport
import Testing

@testable import FootlightClient

@MainActor
@Suite("Livestream and HLS controls of a show", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct ProgramControlTests {
    /// Records the callbacks.
    private final class Listener: MeetingListener {
        var received: [String] = []
        var playbackURL: String?

        func onLivestreamStateChanged(_ state: WireEnum<LivestreamStatus.State>) { received.append(state.rawValue) }
        func onHLSStateChanged(_ state: WireEnum<HLSState>, playbackURL: String?) {
            received.append(state.rawValue)
            if let playbackURL { self.playbackURL = playbackURL }
        }
        func onError(_ error: StageError) { received.append("error \(error.code)") }
    }

    @Test("V22 V23 both start and stop, each state is reported once and in order; invalid commands are refused")
    func onAir() async throws {
        let show = try await GatewayFixture(isAlone: true)
        let platform = try await ReceivingRTMPServer.start(key: "key")
        // Only an operator's outputs may have local addresses.
        let client = BroadcastClient(
            baseURL: try GatewayFixture.address(show.proxy.port),
            token: try show.gateway.operatorToken
        )
        let call = BroadcastCall(client: client, identity: "ann")
        let model = MeetingModel(call: call, capture: FakeCapture())
        let listener = Listener()
        model.listener = listener
        await #expect(throws: StageError.notJoined) { try await model.stopLivestream() }
        model.join(show.room, mode: .sendAndReceive)
        try await call.reach(.joined)
        let publisher = RTMPPublisher(try #require(call.ingest))
        let source = Task { try await publisher.publish(from: PatternMediaSource()) }
        defer { source.cancel() }

        await #expect(throws: StageError.livestreamNotRunning) { try await model.stopLivestream() }
        do throws(StageError) {
            try await model.startLivestream(StartLivestreamBody(outputs: []))
            Issue.record("started")
        } catch {
            #expect(error.code == 4015)
        }
        try await model.startHLS()
        let output = OutputBody(name: "main", url: "rtmp://127.0.0.1:\(platform.port)/live", streamKey: "key")
        try await model.startLivestream(StartLivestreamBody(outputs: [output]))
        do throws(StageError) {
            try await model.startLivestream(StartLivestreamBody(outputs: [output]))
            Issue.record("started")
        } catch {
            #expect([3054, 3055].contains(error.code), "\(error)")
        }
        #expect(try await soon { model.livestreamState == "LIVESTREAM_STARTED" })
        let arrives = { platform.receivedStreams.first?.packets.contains { $0.isKeyframe } == true }
        #expect(try await soon { arrives() }, "the platform has pictures")
        #expect(try await soon { model.hlsState == "HLS_PLAYABLE" })
        // The listener is notified shortly after the state has changed.
        let isReported = try await soon {
            listener.playbackURL?.hasSuffix("/live/\(show.room)/index.m3u8") == true
        }
        #expect(isReported, "\(String(describing: listener.playbackURL))")
        try await model.stopLivestream()
        try await model.stopHLS()
        let isOff = try await soon {
            model.livestreamState == "LIVESTREAM_STOPPED" && model.hlsState == "HLS_STOPPED"
        }
        #expect(isOff)
        _ = try await soon { listener.received.count == 11 }
        #expect(
            listener.received.filter { $0.hasPrefix("L") } == [
                "LIVESTREAM_STOPPED", "LIVESTREAM_STARTING", "LIVESTREAM_STARTED", "LIVESTREAM_STOPPING",
                "LIVESTREAM_STOPPED",
            ]
        )
        #expect(
            listener.received.filter { $0.hasPrefix("H") } == [
                "HLS_STOPPED", "HLS_STARTING", "HLS_STARTED", "HLS_PLAYABLE", "HLS_STOPPING", "HLS_STOPPED",
            ]
        )
        await publisher.stop()
        await platform.stop()
    }

    @Test("V22 V23 a failed start and a loss of all outputs are reported as errors, with their states")
    func failures() async throws {
        let livestream = { (state: String) in
            ",\"livestream\":{\"state\":\"LIVESTREAM_\(state)\",\"started_at\":null,\"end_reason\":null,\"outputs\":[]}"
        }
        let error = { (code: Int) in ",\"error\":\(WireFixtures.error(code, name: "X"))" }
        let events = [
            ("livestream.state_changed", livestream("STARTING")), ("livestream.error", error(4013)),
            ("livestream.state_changed", livestream("STOPPED")), ("livestream.state_changed", livestream("STARTING")),
            ("livestream.state_changed", livestream("STARTED")), ("livestream.error", error(5002)),
            ("livestream.state_changed", livestream("STOPPED")),
        ].enumerated().map { WireFixtures.event($1.0, rev: $0 + 2, $1.1) }.joined()
        let server = try ScriptedHTTPServer { request in
            switch request.split(separator: " ").first {
            case "POST" where request.hasSuffix("/livestream/start"):
                .whole(status: 400, body: "{\"error\":\(WireFixtures.error(4015, name: "X"))}")
            case "POST" where request.hasSuffix("/hls/start"):
                .whole(status: 409, body: "{\"error\":\(WireFixtures.error(4016, name: "X"))}")
            case "POST": .whole(status: 201, body: WireFixtures.joinAnswer(mode: "RECV_ONLY"))
            case "GET":
                .stream(WireFixtures.snapshot(rev: 1, WireFixtures.participant("ann", mode: "RECV_ONLY")) + events)
            default: .whole(status: 200, body: "")
            }
        }
        defer { server.close() }
        let client = BroadcastClient(baseURL: try GatewayFixture.address(server.port), token: "t")
        let model = MeetingModel(call: BroadcastCall(client: client, identity: "ann"), capture: FakeCapture())
        let listener = Listener()
        model.listener = listener
        model.join("show", mode: .receiveOnly)
        #expect(try await soon { listener.received.count >= 9 })
        #expect(
            listener.received == [
                "LIVESTREAM_STOPPED", "HLS_STOPPED", "LIVESTREAM_STARTING", "error 4013", "LIVESTREAM_STOPPED",
                "LIVESTREAM_STARTING", "LIVESTREAM_STARTED", "error 5002", "LIVESTREAM_STOPPED",
            ]
        )
        do throws(StageError) {
            try await model.startHLS()
            Issue.record("started")
        } catch {
            #expect(error.code == 4016)
        }
        #expect(server.requests.contains("POST /v1/rooms/RM1/hls/start"))
    }
}
