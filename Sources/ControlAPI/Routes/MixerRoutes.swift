import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// Routes of the mixer, and the stream of the audio levels that it reports.
struct MixerRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let levels = LevelStream()
    let snapshots: SnapshotStore
    let talkback: TalkbackHub
    /// Called with the room's name at each report.
    let mixerReported: @Sendable (String) -> Void
    /// Whether the preview of a room, by name, is played.
    let isPreviewWatched: @Sendable (String) -> Bool
    let fetch: ControlServices.AssetFetching
    let access: EventStreamAccess

    func add(to api: APIRoutes) {
        api.stream("rooms/:room/levels") { call in
            let room = try rooms.readableRoom(call)
            if call.request.method == .head { return EventStream.head }
            let slot = try access.acquireSlot(call)
            let claims = call.claims
            let isLimited = claims.role != .operator && claims.role != .mixer
            let owner = isLimited ? "\(claims.role.rawValue) \(claims.identity) in \(claims.room ?? "")" : nil
            return try levels.response(
                to: call.request,
                room: room.sid,
                owner: owner,
                client: slot,
                isRefused: access.isRefused(call)
            ) {
                (try? rooms.directory.summary(of: room.sid))?.status != .inProgress
            }
        }

        // Sent up to ten times a second, and therefore not audited.
        api.postUnaudited("rooms/:room/mixer/report") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireMixing(room)
            // A newer mixer may report more than this gateway knows.
            let body = try await call.request.decode(MixerReportBody.self)
            mixerReported(room.name)
            talkback.mixerReported(room: room.sid)
            try rooms.directory.report(room: room.sid, MixerReport(body))
            levels.publish(room: room.sid) { LevelsResource(body) }
            // The response names the requested snapshots, and says whether a preview is wanted.
            let requested = snapshots.mixerReported(room: room.sid)
            var headers = HTTPFields()
            if !requested.isEmpty {
                headers[.footlightSnapshots] = requested.map(\.text).joined(separator: ",")
            }
            if isPreviewWatched(room.name) || snapshots.isPreviewRequested(room: room.sid) {
                headers[.footlightPreview] = "1"
            }
            return Response(status: .noContent, headers: headers)
        }

        api.read("rooms/:room/mixer/asset") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireMixing(room)
            let url = call.query("url") ?? ""
            guard let kind = Asset.Kind(rawValue: call.query("kind") ?? Asset.Kind.image.rawValue) else {
                throw StageError.invalidParameter("kind", "must be image or sound")
            }
            // The URL must be part of the room, so that a compromised mixer cannot make the gateway fetch others.
            let view = try rooms.directory.room(room.sid)
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
            load: try body.load.map { (load) throws(StageError) in try MixerLoad(load) },
            frames: body.frames.flatMap { MixerFrames($0) }
        )
    }
}
