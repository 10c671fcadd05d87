import FootlightModel
import Stage
import Viewership

extension RoomResource {
    /// - Parameters:
    ///   - audience: The room's viewership; nil without viewers.
    ///   - egress: The state of the livestream and HLS.
    init(_ room: RoomView, audience: RoomViewership?, egress: EgressResource, addresses: PlaybackAddresses) {
        let base = "rooms/\(room.name)"
        self.init(
            sid: room.sid,
            uniqueName: room.name,
            status: .known(room.status),
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
        type = .known(room.settings.type)
        hostOrder = room.settings.hostOrder?.identities
        callSettings = CallSettingsResource((room.settings.callSettings ?? CallSettings()).effective())
        maxAudience = room.settings.maximumAudience
        let access = room.settings.audienceAccess
        if !access.isUnrestricted { self.access = AccessResource(access) }
        degradation = room.load.map { MixerLoadResource($0) }
    }
}

extension CountsResource {
    /// - Parameter audience: The room's viewership; nil without viewers.
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
    /// Creates the playback URLs of a room; with a viewer token the URLs contain it.
    init(room: String, addresses: PlaybackAddresses, viewerToken: String? = nil) {
        self.init(room: room, addresses: addresses, query: viewerToken.map { "?sid=\($0)" } ?? "")
        self.viewerToken = viewerToken
    }

    /// Creates the playback URLs of a room with a query.
    init(room: String, addresses: PlaybackAddresses, query: String) {
        self.init(
            hlsURL: addresses.hls(room) + query,
            rtmpURL: addresses.rtmp(room) + query,
            flvURL: addresses.flv(room) + query
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
            preset: .known(program.preset),
            keyInterval: program.keyInterval,
            jitterTarget: program.jitterTarget
        )
        renditions = program.ladder?.renditions.map { RenditionResource($0) }
        audioOnly = program.ladder?.hasAudioOnly
    }
}

extension Rate {
    /// Creates a rate in its common notation, such as 29.97, or else as an exact fraction.
    init(_ rate: FrameRate) {
        if rate.numerator % rate.denominator == 0 {
            self.init(String(rate.numerator / rate.denominator))
        } else {
            let usual = ["23.976", "29.97", "59.94"].first { FrameRate($0) == rate }
            self.init(usual ?? "\(rate.numerator)/\(rate.denominator)")
        }
    }
}

extension RoomSettings {
    /// Parses a request; missing fields have their defaults.
    ///
    /// `validate()` checks the ranges.
    ///
    /// - Parameter digest: Returns what is stored of a passphrase.
    init(_ body: CreateRoomBody, digest: (String) -> PassphraseDigest) throws(StageError) {
        let usual = RoomSettings(name: body.uniqueName)
        self.init(
            name: body.uniqueName,
            maximumParticipants: body.maxParticipants ?? usual.maximumParticipants,
            maximumHosts: body.maxHosts ?? usual.maximumHosts,
            maximumAudience: body.maxAudience,
            emptyTimeout: body.emptyRoomTimeout ?? usual.emptyTimeout,
            unusedTimeout: body.unusedRoomTimeout ?? usual.unusedTimeout,
            backstage: body.backstage ?? usual.backstage,
            layout: try LayoutSettings(body.layout),
            program: try body.program.map { (program) throws(StageError) in try ProgramConfiguration(program) }
                ?? usual.program,
            linger: body.linger
        )
        if let type = body.type { self.type = try type.known(in: "type") }
        isRecorded = body.recording
        if let devices = body.callSettings { callSettings = try CallSettings(devices) }
        if let sound = body.sound { try self.sound.apply(sound, path: "sound.") }
        if let access = body.access { try audienceAccess.apply(access, path: "access.", digest: digest) }
    }
}

extension LayoutSettings {
    /// Creates the defaults changed by the fields of a request for a new room.
    fileprivate init(_ body: LayoutBody?) throws(StageError) {
        self.init()
        if let body { try apply(body, path: "layout.", isOperator: true) }
    }
}

extension ProgramConfiguration {
    init(_ resource: ProgramResource) throws(StageError) {
        let usual = ProgramConfiguration()
        guard let rate = resource.fps.map({ FrameRate($0.text) }) ?? usual.frameRate else {
            throw .invalidParameter(
                "program.fps",
                "must be a rate between 1 and 60, such as 30, 29.97 or \"30000/1001\""
            )
        }
        let (width, height) = (resource.width ?? usual.width, resource.height ?? usual.height)
        self.init(
            width: width,
            height: height,
            frameRate: rate,
            videoBitrate: resource.videoBitrate
                ?? ProgramQuality.videoBitrate(width: width, height: height, frameRate: rate),
            audioBitrate: resource.audioBitrate ?? usual.audioBitrate,
            preset: try resource.preset?.known(in: "program.preset") ?? usual.preset,
            keyInterval: resource.keyInterval ?? usual.keyInterval,
            jitterTarget: resource.jitterTarget ?? usual.jitterTarget
        )
        ladder = try RenditionLadder(resource, isPortrait: height > width, frameRate: rate)
    }
}

extension RoomAudioSettings {
    /// Applies the fields of a request; missing fields stay unchanged.
    ///
    /// - Parameter path: The prefix of field names in errors.
    /// - Throws: 3073 for an unknown value of `duck`.
    mutating func apply(_ body: RoomSoundBody, path: String = "") throws(StageError) {
        duck = try body.duck?.known(in: "\(path)duck") ?? duck
        isLevelling = body.levelling ?? isLevelling
        duckDepth = body.duckDB ?? duckDepth
        if let target = body.jitterTarget { jitterTarget = target.wrappedValue }
    }
}

extension ParticipantAudioSettings {
    /// Applies the fields of a request; missing fields stay unchanged.
    mutating func apply(_ body: ParticipantSoundBody) {
        gain = body.gainDB ?? gain
        hasPriority = body.priority ?? hasPriority
        wantsReturn = body.returnFeed ?? wantsReturn
        if let target = body.jitterTarget { jitterTarget = target.wrappedValue }
    }
}

// MARK: Encoding

extension RoomSoundResource {
    init(_ sound: RoomAudioSettings) {
        self.init(
            levelling: sound.isLevelling,
            duck: .known(sound.duck),
            duckDB: sound.duckDepth,
            jitterTarget: sound.jitterTarget
        )
    }
}

extension ParticipantSoundResource {
    init(_ sound: ParticipantAudioSettings) {
        self.init(
            gainDB: sound.gain,
            priority: sound.hasPriority,
            returnFeed: sound.wantsReturn,
            jitterTarget: sound.jitterTarget
        )
    }
}

extension RenditionLadder {
    /// Parses the renditions of a program; nil if there are none.
    ///
    /// `validate(in:)` checks the ranges.
    init?(_ resource: ProgramResource, isPortrait: Bool, frameRate: FrameRate) throws(StageError) {
        guard resource.renditions != nil || resource.audioOnly == true else { return nil }
        var renditions: [Rendition] = []
        for body in resource.renditions ?? [] {
            renditions.append(try Rendition(body, isPortrait: isPortrait, programRate: frameRate))
        }
        self.init(renditions: renditions, hasAudioOnly: resource.audioOnly ?? false)
    }
}

extension Rendition {
    fileprivate init(_ body: RenditionResource, isPortrait: Bool, programRate: FrameRate) throws(StageError) {
        let usual = ProgramQuality(rawValue: body.name).map { Rendition($0, isPortrait: isPortrait) }
        guard let width = body.width ?? usual?.width, let height = body.height ?? usual?.height else {
            throw .invalidParameter("program.renditions", "must say width and height, or be named by a usual size")
        }
        var rate: FrameRate?
        if let fps = body.fps {
            guard let read = FrameRate(fps.text) else {
                throw .invalidParameter("program.renditions.fps", "must be a rate between 1 and 60")
            }
            rate = read
        }
        let bitrate = ProgramQuality.videoBitrate(width: width, height: height, frameRate: rate ?? programRate)
        self.init(
            name: body.name,
            width: width,
            height: height,
            frameRate: rate,
            videoBitrate: body.videoBitrate ?? bitrate
        )
    }
}

extension RenditionResource {
    init(_ rendition: Rendition) {
        self.init(
            name: rendition.name,
            width: rendition.width,
            height: rendition.height,
            fps: rendition.frameRate.map { Rate($0) },
            videoBitrate: rendition.videoBitrate
        )
    }
}

extension MixerLoadResource {
    init(_ load: MixerLoad) {
        self.init(
            level: load.level,
            reason: load.reason.map { .known($0) },
            work: load.work,
            cores: load.cores,
            renditions: load.renditions.isEmpty
                ? nil : load.renditions.map { RenditionLoadResource(name: $0.name, dropped: $0.dropped) }
        )
    }
}

extension MixerFrames {
    /// Creates the counters from a mixer's report; nil for implausible values.
    init?(_ body: MixerFramesResource) {
        let lost = body.lost.compactMap { name, count in name.value.map { ($0, count) } }
        self.init(counts: body.counts, seconds: body.seconds, lost: Dictionary(lost) { $1 })
    }
}

extension MixerLoad {
    /// Creates the load from a mixer's report.
    ///
    /// - Throws: 3073 for an unknown reason.
    init(_ body: MixerLoadResource) throws(StageError) {
        self.init(
            level: min(max(body.level, 0), 6),
            reason: try body.reason?.known(in: "load.reason"),
            work: body.work,
            cores: min(max(body.cores, 0), 4096),
            renditions: (body.renditions ?? []).prefix(RenditionLadder.most + 1).map {
                RenditionLoad(name: $0.name, dropped: max($0.dropped, 0))
            }
        )
    }
}
