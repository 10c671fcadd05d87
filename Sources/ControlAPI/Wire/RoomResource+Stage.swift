import GatewayModel
import Stage
import Viewership

extension RoomResource {
    /// - Parameters:
    ///   - audience: Who watches; nil for nobody.
    ///   - egress: How the program leaves.
    init(_ room: RoomView, audience: RoomViewership?, egress: EgressResource, addresses: PlaybackAddresses) {
        let base = "rooms/\(room.name)"
        self.init(
            sid: room.sid,
            uniqueName: room.name,
            status: room.status.rawValue,
            backstage: room.isBackstage,
            wasOnAir: room.wasOnAir,
            maxParticipants: room.settings.maximumParticipants,
            maxHosts: room.settings.maximumHosts,
            emptyRoomTimeout: room.settings.emptyTimeout,
            unusedRoomTimeout: room.settings.unusedTimeout,
            counts: CountsResource(room.counts, audience: audience),
            dominantSpeakerSID: room.dominantSpeakerSID,
            layout: LayoutSettingsResource(room.layout),
            sound: RoomSoundResource(room.settings.sound),
            linger: room.lingerTime,
            egress: egress,
            program: ProgramResource(room.settings.program),
            playback: PlaybackResource(room: room.name, addresses: addresses),
            revision: room.revision,
            dateCreated: Timestamp(room.createdAt),
            dateUpdated: Timestamp(room.updatedAt),
            endTime: room.endedAt.map { Timestamp($0) },
            links: [
                "self": addresses.api(base),
                "participants": addresses.api("\(base)/participants"),
                "layout": addresses.api("\(base)/layout"),
                "sound": addresses.api("\(base)/sound"),
                "assets": addresses.api("\(base)/assets"),
                "events": addresses.api("\(base)/events"),
                "hands": addresses.api("\(base)/hands"),
                "egress": addresses.api("\(base)/egress"),
                "viewership": addresses.api("\(base)/viewership"),
            ]
        )
        type = room.settings.type.rawValue
        callSettings = CallSettingsResource((room.settings.callSettings ?? CallSettings()).effective())
        maxAudience = room.settings.maximumAudience
        degradation = room.load.map { MixerLoadResource($0) }
    }
}

extension CountsResource {
    /// - Parameter audience: Who watches, which the report of viewers says as well; nil for nobody.
    init(_ counts: RoomCounts, audience: RoomViewership?) {
        self.init(
            hosts: counts.hosts,
            audience: audience?.concurrent ?? 0,
            anonymous: audience?.anonymous ?? 0,
            signallingOnly: counts.signallingOnly,
            participants: counts.participants
        )
    }
}

extension PlaybackResource {
    /// The addresses of a room's program; with a viewer token they carry it, so that any player presents it.
    init(room: String, addresses: PlaybackAddresses, viewerToken: String? = nil) {
        let query = viewerToken.map { "?sid=\($0)" } ?? ""
        self.init(
            hlsURL: addresses.hls(room) + query,
            rtmpURL: addresses.rtmp(room) + query,
            flvURL: addresses.flv(room) + query,
            viewerToken: viewerToken
        )
    }
}

extension ProgramResource {
    init(_ program: ProgramConfiguration) {
        self.init(
            width: program.width,
            height: program.height,
            fps: Rate(program.frameRate),
            videoBitrate: program.videoBitrate,
            audioBitrate: program.audioBitrate,
            preset: program.preset,
            keyInterval: program.keyInterval,
            jitterTarget: program.jitterTarget
        )
        renditions = program.ladder?.renditions.map { RenditionResource($0) }
        audioOnly = program.ladder?.hasAudioOnly
    }
}

extension Rate {
    /// The rate as people write it, if it is one of the usual ones, else the exact fraction.
    init(_ rate: FrameRate) {
        if rate.numerator % rate.denominator == 0 {
            self.init(String(rate.numerator / rate.denominator))
        } else {
            let usual = ["23.976", "29.97", "59.94"].first { FrameRate($0) == rate }
            self.init(usual ?? "\(rate.numerator)/\(rate.denominator)")
        }
    }
}
