import Foundation
import GatewayModel

/// What a gateway would write, for servers written out by hand.
enum WireFixtures {
    /// The answer to a join by `ann`.
    static func joinAnswer(mode: String = "SEND_AND_RECV") -> String {
        let ann = resource("ann", mode: mode)
        return text(
            JoinAnswer(
                participant: ann,
                sessionID: "S1",
                room: room,
                participants: [ann],
                tiles: [],
                ingest: nil,
                callSettings: CallSettingsResource(
                    audioOn: true,
                    videoOn: true,
                    speakerOn: true,
                    audioOutputOn: true,
                    cameraPosition: "front"
                ),
                connectOptions: nil,
                playback: playback,
                eventsURL: "",
                heartbeatInterval: 5,
                sessionTimeout: 30,
                fastReconnectDeadline: 15
            )
        )
    }

    /// A participant as the gateway writes one.
    static func participant(
        _ identity: String,
        mode: String = "SEND_AND_RECV",
        status: String = "connected",
        revision: UInt64 = 1
    ) -> String {
        text(resource(identity, mode: mode, status: status, revision: revision))
    }

    /// One server-sent event; `fields` begins with a comma where there are any.
    static func event(_ type: String, rev: Int, _ fields: String = "") -> String {
        "id: \(rev)\nevent: \(type)\n"
            + "data: {\"type\":\"\(type)\",\"room_sid\":\"RM1\",\"rev\":\(rev),\"ts\":\"\(time)\"\(fields)}\n\n"
    }

    /// The snapshot of the room with these participants.
    static func snapshot(rev: Int, _ participants: String...) -> String {
        event(
            "room.snapshot",
            rev: rev,
            ",\"room\":\(text(room)),\"participants\":[\(participants.joined(separator: ","))]"
        )
    }

    /// An error as the gateway writes it.
    static func error(_ code: Int, name: String, retryable: Bool = false) -> String {
        """
        {"code":\(code),"name":"\(name)","message":"m","cause":"c","solution":"s","status":503,\
        "retryable":\(retryable),"retry_after":null,"more_info":"/docs/errors/\(code)"}
        """
    }

    private static let time = "2026-01-01T12:00:00.000Z"
    private static let moment = Timestamp(1_767_268_800)
    private static let playback = PlaybackResource(hlsURL: "", rtmpURL: "", flvURL: "")

    /// The room `show`, by itself.
    private static let room = RoomResource(
        sid: "RM1",
        uniqueName: "show",
        status: "in-progress",
        backstage: false,
        maxParticipants: 100,
        maxHosts: 12,
        emptyRoomTimeout: 300,
        unusedRoomTimeout: 300,
        counts: CountsResource(hosts: 1, audience: 0, anonymous: 0, signallingOnly: 0, participants: 1),
        dominantSpeakerSID: nil,
        layout: LayoutSettingsResource(type: "GRID", gridSize: 12, orientation: "landscape"),
        egress: EgressResource(
            broadcasting: false,
            livestream: LivestreamResource(state: "LIVESTREAM_STOPPED", startedAt: nil, outputs: []),
            hls: HLSResource(state: "HLS_STOPPED", startedAt: nil, playbackHLSURL: nil)
        ),
        program: ProgramResource(),
        playback: playback,
        revision: 1,
        dateCreated: moment,
        dateUpdated: moment,
        endTime: nil,
        links: [:]
    )

    private static func resource(
        _ identity: String,
        mode: String,
        status: String = "connected",
        revision: UInt64 = 1
    ) -> ParticipantResource {
        ParticipantResource(
            sid: "PA-\(identity)",
            identity: identity,
            displayName: identity,
            mode: mode,
            status: status,
            isMicOn: false,
            isCameraOn: false,
            isScreenSharing: false,
            position: nil,
            tracks: [],
            joinedAt: moment,
            revision: revision
        )
    }

    /// Nothing in these values can fail to be written; if it does, what reads the text says so.
    private static func text(_ value: some Encodable) -> String {
        (try? WireJSON.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension EventResource {
    /// Reads what stands behind `data: ` in an event.
    init(wire text: String) throws {
        let data = text.split(separator: "\n").last.map { $0.dropFirst("data: ".count) } ?? ""
        self = try WireJSON.decode(EventResource.self, from: Data(data.utf8))
    }
}
