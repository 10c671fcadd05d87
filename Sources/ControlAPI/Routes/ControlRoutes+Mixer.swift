import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addMixer(to api: APIRoutes) {
        api.stream("rooms/:room/levels") { call in
            let room = try readableRoom(call)
            return try levels.response(to: call.request, room: room.sid) {
                (try? directory.summary(of: room.sid))?.status != .inProgress
            }
        }

        // Up to ten times a second, so that it is not written down.
        api.sign("rooms/:room/mixer/report") { call in
            let room = try liveRoom(call)
            try call.claims.requireMixing(room)
            let body = try await call.request.decode(MixerReportBody.self)
            try directory.report(room: room.sid, MixerReport(body))
            levels.tell(room: room.sid) { LevelsResource(body) }
            // What somebody wants to see goes along with the answer.
            let wanted = snapshots.reported(room: room.sid)
            guard !wanted.isEmpty else { return Response(status: .noContent) }
            return Response(
                status: .noContent,
                headers: [.footlightSnapshots: wanted.map(\.text).joined(separator: ",")]
            )
        }
    }
}

extension LevelsResource {
    /// What a mixer said of hosts with a microphone, and of the program.
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
            for name in entry.subscribed { subscribed.insert(try TrackName(wireName: name)) }
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
