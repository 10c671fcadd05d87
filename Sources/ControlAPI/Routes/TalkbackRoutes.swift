import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// Routes of the talkback: a director speaks to hosts in their return feeds.
struct TalkbackRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let hub: TalkbackHub

    /// Maximum number of names in `hosts`.
    private static let maximumHosts = 100
    /// Maximum length in bytes of the name of a talk.
    private static let maximumSessionLength = 64

    func add(to api: APIRoutes) {
        api.read("rooms/:room/talkback") { call in
            let room = try rooms.readableRoom(call)
            return try APIResponse.json(TalkbackResource(hub.talk(room: room.sid)))
        }

        // Sent ten times a second; only the first block of a talk is written to the audit log.
        api.postUnaudited("rooms/:room/talkback") { call in
            let room = try rooms.streamingRoom(call)
            let speaker = try speaker(call)
            guard let sequence = Int(call.query("sequence") ?? ""), sequence >= 0 else {
                throw StageError.invalidParameter("sequence", "must be a number from 0")
            }
            let (chosen, unreachable) = try hosts(call, in: room)
            let samples = try await samples(call)
            let (talk, isNew) = try hub.receive(
                samples,
                from: speaker,
                sequence: sequence,
                room: room.sid,
                to: chosen,
                unreachable: unreachable
            )
            if isNew { rooms.audit.record(call.request, call.context, by: call.claims, outcome: .done(200)) }
            return try APIResponse.json(TalkbackResource(talk))
        }

        api.command(.delete, "rooms/:room/talkback") { call in
            let room = try rooms.streamingRoom(call)
            try hub.end(room: room.sid, by: speaker(call))
            return Response(status: .noContent)
        }

        // What the room's mixer reads.
        api.read("rooms/:room/mixer/talkback") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireMixing(room)
            if call.request.method == .head { return EventStream.head }
            return hub.response(to: call.request, room: room.sid)
        }
    }

    private func speaker(_ call: APICall) throws(StageError) -> RoomTalkback.Speaker {
        let session = call.query("session") ?? ""
        guard !session.isEmpty, session.utf8.count <= Self.maximumSessionLength else {
            throw .invalidParameter("session", "must be given, and at most \(Self.maximumSessionLength) bytes long")
        }
        return RoomTalkback.Speaker(identity: call.claims.identity, session: session)
    }

    private func samples(_ call: APICall) async throws(StageError) -> ByteBuffer {
        let limit = TalkbackBlock.maximumSamples * TalkbackBlock.sampleSize
        var tooLong = StageError.bodyTooLarge
        tooLong.cause = "A block has at most half a second of audio, \(limit) bytes"
        tooLong.solution = "Send shorter blocks"
        let body = try await call.request.bytes(upTo: limit, else: tooLong)
        guard body.readableBytes > 0, body.readableBytes % TalkbackBlock.sampleSize == 0 else {
            throw .invalidParameter("The body", "must be samples of 48 kHz, one channel and 16 bits, at least one")
        }
        return body
    }

    /// Returns the hosts that are spoken to, all of them without a choice, and the chosen names of others.
    private func hosts(
        _ call: APICall,
        in room: RoomSummary
    ) throws(StageError) -> (hosts: [ParticipantView], unreachable: [String]) {
        let hosts = try rooms.directory.room(room.sid).participants.filter { $0.mode == .sendAndReceive }
        guard let text = call.query("hosts") else { return (hosts, []) }
        let names = Set(text.split(separator: ",").map(String.init))
        guard (1...Self.maximumHosts).contains(names.count) else {
            throw .invalidParameter("hosts", "must be 1 to \(Self.maximumHosts) identities, separated by commas")
        }
        let chosen = hosts.filter { names.contains($0.identity) || names.contains($0.sid) }
        let found = Set(chosen.flatMap { [$0.identity, $0.sid] })
        return (chosen, names.subtracting(found).sorted())
    }
}

extension TalkbackResource {
    /// Creates the resource of a talk, or of a room without one.
    fileprivate init(_ talk: RoomTalkback.Talk?) {
        self.init(
            speaker: talk?.speaker.identity,
            hosts: talk?.hosts ?? [],
            unreachable: talk?.unreachable ?? [],
            dropped: talk?.dropped ?? 0
        )
    }
}
