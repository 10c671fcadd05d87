import ControlAPI
import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Testing

@Suite("Participant routes")
struct ParticipantRoutesTests {
    @Test("A host joins and receives its ingest; the stream key authorizes publishing")
    func host() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let answer = try await server.join("show", "ann")
            #expect(answer.status == 201)
            let joined = try answer.decode(JoinAnswer.self)
            let ingest = try #require(joined.ingest?.rtmp)
            #expect(ingest.url == "rtmp://127.0.0.1:1935/live")
            #expect(ingest.screenStreamKey == ingest.streamKey + ".screen")
            #expect(try server.directory.authorizePublish(streamKey: ingest.streamKey).get().identity == "ann")
            #expect(joined.participant.mode == "SEND_AND_RECV" && joined.participant.status == "connecting")
            #expect(joined.participant.position == 0)
            #expect(joined.tiles.map(\.participantSID) == [joined.participant.sid])
            #expect(joined.tiles.first?.source == "placeholder")
            #expect(joined.participants.count == 1)
            #expect(joined.room.counts.hosts == 1)
            #expect(!joined.sessionID.isEmpty)
            let query = "participant=\(joined.participant.sid)&session_id=\(joined.sessionID)"
            #expect(joined.eventsURL.hasSuffix("/v1/rooms/show/events?\(query)"))
            #expect(joined.heartbeatInterval == 5 && joined.sessionTimeout == 30)
            #expect(joined.fastReconnectDeadline == 15)

            let read = try await server.ask("GET", "/v1/rooms/show/participants/ann")
            #expect(try read.decode(ParticipantResource.self) == joined.participant)
            #expect(!read.text.contains(ingest.streamKey))
            let room = try await server.ask("GET", "/v1/rooms/show")
            #expect(!room.text.contains(ingest.streamKey))
        }
    }

    @Test("A host in quarantine is refused and listed as such until an operator releases it")
    func quarantine() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let joined = try await server.join("show", "ann").decode(JoinAnswer.self)
            let key = try #require(joined.ingest?.rtmp.streamKey)
            server.directory.quarantine(room: "show", participantSID: joined.participant.sid, seconds: 30)
            guard case .failure(.quarantined) = server.directory.authorizePublish(streamKey: key) else {
                Issue.record("the host may publish")
                return
            }
            let path = "/v1/rooms/show/participants/ann"
            let read = try await server.ask("GET", path).decode(ParticipantResource.self)
            #expect(read.quarantinedUntil != nil)
            #expect(try await server.ask("DELETE", path + "/quarantine", as: .unauthenticated).status == 401)
            #expect(try await server.ask("DELETE", path + "/quarantine").status == 204)
            #expect(try await server.ask("GET", path).text.contains(#""quarantined_until":null"#))
            #expect(try server.directory.authorizePublish(streamKey: key).get().identity == "ann")
            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/eve/quarantine").refusal == "404/53204")
        }
    }

    @Test("A viewer receives no stream key, is listed, counts while it watches, and leaves")
    func audience() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let answer = try await server.join("show", "eve", "RECV_ONLY")
            #expect(answer.text.contains(#""ingest":null"#))
            _ = try await server.join("show", "old", "VIEWER")
            _ = try await server.join("show", "ann")
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(
                room.counts == CountsResource(hosts: 1, audience: 0, anonymous: 0, signallingOnly: 1, participants: 3)
            )
            let list = try await server.ask("GET", "/v1/rooms/show/participants?mode=RECV_ONLY")
            #expect(try list.decode(ParticipantList.self).participants.map(\.identity) == ["eve"])
            let waiting = try await server.ask("GET", "/v1/rooms/show/participants?status=connecting")
            #expect(try waiting.decode(ParticipantList.self).participants.map(\.identity) == ["eve", "old", "ann"])
            let lost = try await server.ask("GET", "/v1/rooms/show/participants?status=reconnecting")
            #expect(try lost.decode(ParticipantList.self).participants.isEmpty)
            #expect(try await server.ask("GET", "/v1/rooms/show/participants?status=odd").refusal == "400/3073")
            #expect(try await server.ask("GET", "/v1/rooms/show/participants?mode=odd").refusal == "400/3067")

            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/eve").status == 204)
            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/eve").refusal == "404/53204")
            #expect(try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self).counts.audience == 0)
        }
    }

    @Test("The layout contains each host at its grid position")
    func layout() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for identity in ["ann", "ben"] { _ = try await server.join("show", identity) }
            let layout = try await server.ask("GET", "/v1/rooms/show/layout").decode(LayoutResource.self)
            #expect(layout.type == "GRID" && layout.width == 1280 && layout.orientation == "landscape")
            #expect(layout.tiles.map(\.label) == ["ann", "ben"])
            #expect(
                layout.tiles.map { [$0.x, $0.y, $0.width, $0.height] } == [[0, 0, 636, 720], [644, 0, 636, 720]]
            )
        }
    }

    @Test("Every refusal of a join has its code")
    func refusals() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom("show", #","max_participants":2,"max_hosts":1"#)
            #expect(try await server.join("none", "ann").refusal == "404/53106")
            #expect(try await server.join("show", "").refusal == "400/53200")
            #expect(try await server.join("show", String(repeating: "a", count: 65)).refusal == "400/53201")
            #expect(try await server.join("show", "a b").refusal == "400/53202")
            #expect(try await server.join("show", "ann", "LOUD").refusal == "400/3067")
            let path = "/v1/rooms/show/participants"
            #expect(try await server.ask("POST", path, #"{"identity":"ann"}"#).refusal == "400/53004")
            #expect(try await server.ask("POST", path, #"{"mode":"RECV_ONLY"}"#).refusal == "400/53200")
            let long = String(repeating: "n", count: 101)
            let body = #"{"identity":"ann","mode":"RECV_ONLY","display_name":"\#(long)"}"#
            #expect(try await server.ask("POST", path, body).refusal == "400/3073")

            #expect(try await server.join("show", "ann").status == 201)
            #expect(try await server.join("show", "ben").refusal == "409/4010")
            #expect(try await server.join("show", "eve", "RECV_ONLY").status == 201)
            #expect(try await server.join("show", "fay", "RECV_ONLY").refusal == "409/53105")
            #expect(try await server.join("show", "ann").status == 201, "the same identity takes its own place")
            #expect(try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#).status == 200)
            #expect(try await server.join("show", "ann").refusal == "404/53106")
        }
    }

    @Test("Q11 a room with a limited audience admits that many viewers, including those who are joining")
    func limitedAudience() async throws {
        try await ControlServer.run { (server) async throws in
            for wrong in ["0", "1000001"] {
                let body = #"{"unique_name":"a","max_audience":\#(wrong)}"#
                #expect(try await server.ask("POST", "/v1/rooms", body).refusal == "400/3073")
            }
            try await server.makeRoom("show", #","max_audience":2"#)
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(room.maxAudience == 2)
            #expect(try await server.join("show", "eve", "RECV_ONLY").status == 201)
            #expect(try await server.join("show", "fay", "RECV_ONLY").status == 201)
            #expect(try await server.join("show", "gil", "RECV_ONLY").refusal == "409/53105")
            #expect(try await server.join("show", "ann").status == 201, "a host is no audience")
            #expect(try await server.join("show", "eve", "RECV_ONLY").status == 201, "she takes her own place")
            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/fay").status == 204)
            #expect(try await server.join("show", "gil", "RECV_ONLY").status == 201)
        }
    }

    @Test("S14 devices begin with the user's choice, else the room's, else the gateway's, else everything on")
    func callSettings() async throws {
        let settings = StageSettings(callSettings: CallSettings(isVideoOn: false, isSpeakerOn: false))
        try await ControlServer.run(settings: settings) { (server) async throws in
            let devices = #""call_settings":{"speaker_on":true,"camera_position":"back","audio_on":false}"#
            try await server.makeRoom("show", "," + devices)
            try await server.makeRoom("plain", "")
            func begins(_ room: String, _ more: String) async throws -> CallSettingsResource? {
                let body = #"{"identity":"ann","mode":"SEND_AND_RECV"\#(more)}"#
                let path = "/v1/rooms/\(room)/participants"
                return try await server.ask("POST", path, body).decode(JoinAnswer.self).callSettings
            }
            func settings(_ on: [Bool], _ camera: WireEnum<CallSettings.CameraPosition>) -> CallSettingsResource {
                CallSettingsResource(
                    audioOn: on[0],
                    videoOn: on[1],
                    speakerOn: on[2],
                    audioOutputOn: on[3],
                    cameraPosition: camera
                )
            }
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(room.callSettings == settings([false, false, true, true], "back"))
            #expect(try await begins("show", "") == room.callSettings)
            let chosen = #","call_settings":{"audio_on":true,"camera_position":"front"}"#
            #expect(try await begins("show", chosen) == settings([true, false, true, true], "front"))
            #expect(try await begins("plain", "") == settings([true, false, false, true], "front"))
            let wrong = #"{"unique_name":"a","call_settings":{"camera_position":"top"}}"#
            #expect(try await server.ask("POST", "/v1/rooms", wrong).refusal == "400/3073")
        }
    }

    @Test("V17 and V19 a participant changes its own mode within its token; others only make it step down")
    func modes() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom("show", #","max_hosts":1"#)
            let claims = AccessClaims(
                identity: "ann",
                role: .participant,
                room: "show",
                modes: [.receiveOnly, .sendAndReceive],
                expiresAt: Date().timeIntervalSince1970 + 60
            )
            let ann = ControlServer.Bearer.token(try await server.tokens.issue(claims))
            let eve = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "eve", room: "show", mode: .receiveOnly, expiresIn: 60)
            )
            _ = try await server.join("show", "ann", "RECV_ONLY", as: ann)
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            func change(
                _ who: String,
                _ mode: String,
                _ bearer: ControlServer.Bearer
            ) async throws -> ControlServer.Answer {
                try await server.ask(
                    "POST",
                    "/v1/rooms/show/participants/\(who)/mode",
                    #"{"mode":"\#(mode)"}"#,
                    as: bearer
                )
            }
            #expect(try await change("ann", "SEND_AND_RECV", .operator).refusal == "403/4065")
            #expect(try await change("eve", "SEND_AND_RECV", eve).refusal == "403/4065")
            #expect(try await change("ann", "RECV_ONLY", eve).refusal == "403/20106")
            #expect(try await change("ann", "ODD", ann).refusal == "400/3067")

            let up = try await change("ann", "SEND_AND_RECV", ann).decode(ModeAnswer.self)
            #expect(up.participant.position == 0)
            let key = try #require(up.ingest?.rtmp.streamKey)
            #expect(try server.directory.authorizePublish(streamKey: key).get().identity == "ann")

            let down = try await change("ann", "RECV_ONLY", .operator).decode(ModeAnswer.self)
            #expect(down.ingest == nil && down.participant.position == nil)
            #expect(server.directory.authorizePublish(streamKey: key) == .failure(.wrongMode))
        }
    }
}
