import FootlightTesting
import GatewayModel
import Media
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("The buttons of a show: livestream and HLS", .timeLimit(.minutes(1)))
struct ProgramControlTests {
    /// Notes down what it hears.
    private final class Listener: MeetingListening {
        var heard: [String] = []
        var playbackURL: String?

        func onLivestreamStateChanged(_ state: String) { heard.append(state) }
        func onHLSStateChanged(_ state: String, playbackURL: String?) {
            heard.append(state)
            if let playbackURL { self.playbackURL = playbackURL }
        }
        func onError(_ error: StageError) { heard.append("error \(error.code)") }
    }

    @Test("V22 V23 both go on the air and off it again, each state told once and in order; what cannot be is refused")
    func onAir() async throws {
        let show = try await Show(isAlone: true)
        let platform = try await ReceivingServer.start(key: "key")
        // Only an operator's outputs may lead to this machine.
        let client = BroadcastClient(
            baseURL: try Show.address(show.proxy.port),
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
        let arrives = { platform.visits.first?.packets.contains { $0.isKeyPicture } == true }
        #expect(try await soon { arrives() }, "the platform has pictures")
        #expect(try await soon { model.hlsState == "HLS_PLAYABLE" })
        // The listener is told a moment after the state has changed.
        let isTold = try await soon {
            listener.playbackURL?.hasSuffix("/live/\(show.room)/index.m3u8") == true
        }
        #expect(isTold, "\(String(describing: listener.playbackURL))")
        try await model.stopLivestream()
        try await model.stopHLS()
        let isOff = try await soon {
            model.livestreamState == "LIVESTREAM_STOPPED" && model.hlsState == "HLS_STOPPED"
        }
        #expect(isOff)
        _ = try await soon { listener.heard.count == 11 }
        #expect(
            listener.heard.filter { $0.hasPrefix("L") } == [
                "LIVESTREAM_STOPPED", "LIVESTREAM_STARTING", "LIVESTREAM_STARTED", "LIVESTREAM_STOPPING",
                "LIVESTREAM_STOPPED",
            ]
        )
        #expect(
            listener.heard.filter { $0.hasPrefix("H") } == [
                "HLS_STOPPED", "HLS_STARTING", "HLS_STARTED", "HLS_PLAYABLE", "HLS_STOPPING", "HLS_STOPPED",
            ]
        )
        await publisher.stop()
        await platform.stop()
    }

    @Test("V22 V23 a start that fails and a loss of all outputs are told as errors, with the states around them")
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
        let server = try WireServer { request in
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
        let client = BroadcastClient(baseURL: try Show.address(server.port), token: "t")
        let model = MeetingModel(call: BroadcastCall(client: client, identity: "ann"), capture: FakeCapture())
        let listener = Listener()
        model.listener = listener
        model.join("show", mode: .receiveOnly)
        #expect(try await soon { listener.heard.count >= 9 })
        #expect(
            listener.heard == [
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
