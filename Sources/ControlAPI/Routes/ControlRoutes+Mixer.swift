import FootlightModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addMixer(to api: APIRoutes) {
        api.stream("rooms/:room/levels") { call in
            let room = try readableRoom(call)
            let slot = try acquireStreamSlot(call)
            let claims = call.claims
            let isLimited = claims.role != .operator && claims.role != .mixer
            let owner = isLimited ? "\(claims.role.rawValue) \(claims.identity) in \(claims.room ?? "")" : nil
            return try levels.response(
                to: call.request,
                room: room.sid,
                owner: owner,
                client: slot,
                isRefused: isRefused(call)
            ) {
                (try? directory.summary(of: room.sid))?.status != .inProgress
            }
        }

        // Sent up to ten times a second, and therefore not audited.
        api.postUnaudited("rooms/:room/mixer/report") { call in
            let room = try liveRoom(call)
            try call.claims.requireMixing(room)
            let body = try await call.request.decode(MixerReportBody.self)
            mixerReported(room.name)
            try directory.report(room: room.sid, MixerReport(body))
            levels.publish(room: room.sid) { LevelsResource(body) }
            // The response names the requested snapshots.
            let requested = snapshots.mixerReported(room: room.sid)
            guard !requested.isEmpty else { return Response(status: .noContent) }
            return Response(
                status: .noContent,
                headers: [.footlightSnapshots: requested.map(\.text).joined(separator: ",")]
            )
        }

        api.read("rooms/:room/mixer/asset") { call in
            let room = try liveRoom(call)
            try call.claims.requireMixing(room)
            let url = call.query("url") ?? ""
            guard let kind = Asset.Kind(rawValue: call.query("kind") ?? Asset.Kind.image.rawValue) else {
                throw StageError.invalidParameter("kind", "must be image or sound")
            }
            // The URL must be part of the room, so that a compromised mixer cannot make the gateway fetch others.
            let view = try directory.room(room.sid)
            let layout = view.settings.layout
            guard layout.addresses.contains(url) || view.participants.contains(where: { $0.avatar?.text == url }) else {
                throw StageError.assetNotFound
            }
            // Avatars are set by participants, and so may be the rest of the layout.
            let bytes = try await fetch(url, kind, room.sid, layout.operatorAddresses.contains(url))
            return Response(
                status: .ok,
                headers: [.contentType: "application/octet-stream", .contentLength: "\(bytes.readableBytes)"],
                body: ResponseBody(byteBuffer: bytes)
            )
        }
    }
}

extension LevelsResource {
    /// Creates the levels of hosts with a microphone, and of the program, from a mixer's report.
    fileprivate init(_ body: MixerReportBody) {
        let hosts = body.participants.compactMap { entry -> HostLevelResource? in
            guard let level = entry.audioLevel else { return nil }
            return HostLevelResource(
                sid: entry.sid,
                level: level,
                peak: entry.peak ?? level,
                levelling: entry.levelling ?? 0
            )
        }
        self.init(hosts: hosts, program: body.program)
    }
}

extension MixerReport {
    fileprivate init(_ body: MixerReportBody) throws(StageError) {
        var entries: [Entry] = []
        for entry in body.participants {
            var subscribed: Set<TrackName> = []
            for name in entry.subscribed { subscribed.insert(try TrackName(wireName: name.rawValue)) }
            entries.append(
                Entry(
                    participantSID: entry.sid,
                    audioLevel: entry.audioLevel,
                    subscribed: subscribed,
                    sync: entry.sync.map { HostSync($0) },
                    screenSync: entry.screenSync.map { HostSync($0) }
                )
            )
        }
        self.init(
            entries: entries,
            load: body.load.map { MixerLoad($0) },
            frames: body.frames.flatMap { MixerFrames($0) }
        )
    }
}
