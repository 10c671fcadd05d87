/// What keeps the hosts of a room from being heard or seen, and what its load means.
public struct RoomDiagnosis: Sendable, Equatable {
    /// The program as a whole.
    public var program: ProgramDiagnosis
    /// In join order.
    public var hosts: [HostDiagnosis]
}

/// Why a host is not heard, and why it is not seen.
public struct HostDiagnosis: Sendable, Equatable {
    /// The first cause that is true, in the order of the way from the encoder to the audience.
    public enum Cause: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing keeps it from the audience.
        case none
        /// The gateway refuses its media for some seconds, because it ended the mixer repeatedly.
        case quarantined
        /// No encoder is connected.
        case notConnected = "not_connected"
        /// The encoder is connected, and sends no such track.
        case noTrack = "no_track"
        /// The microphone or camera is off.
        case switchedOff = "switched_off"
        /// The mixer cannot decode the media.
        case notDecoded = "not_decoded"
        /// The microphone has been silent for twelve seconds.
        case silent
        /// The gain is all the way down.
        case gainDown = "gain_down"
        /// It is quieter while another host speaks.
        case ducked
        /// The media arrives later than the jitter buffer waits.
        case late
        /// The host has no tile in the layout.
        case noTile = "no_tile"
        /// The mixer leaves out the video of hosts, because the processor is too slow.
        case overload
        /// The room is backstage.
        case backstage
    }

    /// A finding, in words for an operator.
    public struct Finding: Sendable, Equatable {
        /// The cause.
        public var cause: Cause
        /// The cause in a sentence.
        public var message: String
        /// What to do about it; empty if there is nothing to do.
        public var advice: String
        /// Who switched the track off, if somebody else did.
        public var by: String?
        /// The identity of the host under whose speech this one is quieter.
        public var otherHost: String?
    }

    /// The host's sid.
    public var sid: String
    /// The host's identity.
    public var identity: String
    /// The name on its tile.
    public var displayName: String
    /// Why it is not heard.
    public var sound: Finding
    /// Why it is not seen.
    public var video: Finding
}

/// The load of a room's program, in words for an operator.
public struct ProgramDiagnosis: Sendable, Equatable {
    /// The changes that can take load off the processor.
    public enum Advice: String, Sendable, Hashable, Codable, CaseIterable {
        /// This program is small: end other shows, and what else runs on the machine.
        case endOthers = "end_others"
        /// Leave out some of the further sizes.
        case fewerRenditions = "fewer_renditions"
        /// Make the program 720p.
        case make720p = "make_720p"
        /// Make the program 30 frames per second.
        case make30Frames = "make_30_frames"
        /// Make the program 480p, or use a larger machine.
        case make480p = "make_480p"
        /// End other shows, or use a larger machine.
        case largerMachine = "larger_machine"
    }

    /// The degradation level, 0 to 6; see `MixerLoad`.
    public var level: Int
    /// What the audience sees of it, in a sentence.
    public var message: String
    /// What would help most; empty if there is nothing to do.
    public var advice: String
    /// The same as a code; nil if there is nothing to do.
    public var adviceCode: Advice?
    /// The numbers in the advice, by name.
    public var values: [String: Int]
    /// The share of the machine's processors that the mixer uses, in percent; nil if unknown.
    public var processorPercent: Int?
}

/// What a participant remembers of its media for a diagnosis.
struct HostSymptoms: Sendable, Equatable {
    /// The level from which a microphone is not silent, in dBFS.
    static let silence = -60.0
    /// Seconds of silence after which it is a cause.
    static let silenceTime = 12.0
    /// Seconds for which late media is a cause.
    static let lateTime = 5.0

    /// Who switched a track off, if it was not the host.
    var switchedOffBy: [TrackName: String] = [:]
    /// The last time when the microphone was not silent, or the time of its first report.
    private(set) var audibleAt: Double?
    /// The last time when media was late.
    private(set) var lateAt: Double?

    mutating func update(_ entry: MixerReport.Entry, before: HostSync?, at now: Double) {
        if let level = entry.audioLevel {
            if level >= Self.silence || audibleAt == nil { audibleAt = now }
        } else {
            audibleAt = nil
        }
        if let late = entry.sync?.late, let before, late > before.late { lateAt = now }
    }

    func isSilent(at now: Double) -> Bool { audibleAt.map { now - $0 >= Self.silenceTime } ?? false }

    func isLate(at now: Double) -> Bool { lateAt.map { now - $0 < Self.lateTime } ?? false }
}

extension Room {
    /// The share of the processors in percent below which a program that lacks time is not what is too large.
    private static let smallShare = 30

    func diagnosis(cores: Int, at now: Double) -> RoomDiagnosis {
        RoomDiagnosis(
            program: programDiagnosis(cores: cores),
            hosts: participants.filter(\.isHost).map { host in
                HostDiagnosis(
                    sid: host.sid,
                    identity: host.identity,
                    displayName: host.displayName,
                    sound: sound(of: host, at: now),
                    video: video(of: host, at: now)
                )
            }
        )
    }

    // MARK: Hosts

    private func sound(of host: Participant, at now: Double) -> HostDiagnosis.Finding {
        if let cause = arrival(of: .mic, host, at: now) { return finding(cause, .mic, host, at: now) }
        if host.symptoms.isSilent(at: now) { return finding(.silent, .mic, host, at: now) }
        if host.sound.gain <= ParticipantAudioSettings.silentGain { return finding(.gainDown, .mic, host, at: now) }
        if host.symptoms.isLate(at: now) { return finding(.late, .mic, host, at: now) }
        if let other = hostDucking(host) {
            var found = finding(.ducked, .mic, host, at: now)
            found.message = "\(host.displayName) is quieter while \(other.displayName) speaks"
            found.otherHost = other.identity
            return found
        }
        return finding(isBackstage ? .backstage : .none, .mic, host, at: now)
    }

    private func video(of host: Participant, at now: Double) -> HostDiagnosis.Finding {
        // A shared screen is a picture too.
        let name = host.isCameraOn || host.tracks[.screen] == nil ? TrackName.camera : .screen
        if let cause = arrival(of: name, host, at: now) { return finding(cause, name, host, at: now) }
        if host.symptoms.isLate(at: now) { return finding(.late, name, host, at: now) }
        if roomLayout.position(of: host.sid) == nil { return finding(.noTile, name, host, at: now) }
        if load?.level == 6 { return finding(.overload, name, host, at: now) }
        return finding(isBackstage ? .backstage : .none, name, host, at: now)
    }

    /// Returns what keeps a track from the mixer.
    private func arrival(of name: TrackName, _ host: Participant, at now: Double) -> HostDiagnosis.Cause? {
        if let until = host.quarantinedUntil, now < until { return .quarantined }
        guard host.flows.values.contains(where: { $0.isFlowing || $0.isPending }) else { return .notConnected }
        guard host.receives(name) else { return .noTrack }
        guard let track = host.tracks[name], track.isEnabled else { return .switchedOff }
        return track.isSubscribed || !track.hasPlayed && host.decoding[name] == nil ? nil : .notDecoded
    }

    /// Returns the host under whose speech another one is ducked.
    private func hostDucking(_ host: Participant) -> Participant? {
        guard settings.sound.duck != .off, settings.sound.duckDepth < 0 else { return nil }
        func ducksOthers(_ other: Participant) -> Bool {
            let isPinned = pins.pin(of: other.sid) != nil
            return switch settings.sound.duck {
            case .off: false
            case .pinned: isPinned
            case .priority: other.sound.hasPriority
            case .both: isPinned || other.sound.hasPriority
            }
        }
        guard !ducksOthers(host) else { return nil }
        return participants.first { $0.isHost && ducksOthers($0) && speakers.isSpeaking($0.sid) }
    }

    private func finding(
        _ cause: HostDiagnosis.Cause,
        _ name: TrackName,
        _ host: Participant,
        at now: Double
    ) -> HostDiagnosis.Finding {
        let who = host.displayName
        let device = name == .mic ? "microphone" : name == .camera ? "camera" : "screen"
        let actor = cause == .switchedOff ? host.symptoms.switchedOffBy[name] : nil
        let (message, advice) =
            switch cause {
            case .none:
                (name == .mic ? "\(who) is heard" : "\(who) is seen", "")
            case .quarantined:
                (
                    "\(who)'s media ended the mixer repeatedly and is refused for "
                        + "\(Int(((host.quarantinedUntil ?? now) - now).rounded(.up))) s",
                    "Check the encoder's settings, and lift the block once they are corrected"
                )
            case .notConnected:
                (
                    "No encoder of \(who) is connected",
                    "Ask \(who) to start streaming with the address and key of the seat"
                )
            case .noTrack:
                (
                    name == .mic ? "\(who)'s encoder sends no sound" : "\(who)'s encoder sends no picture",
                    "Add a \(device) in the encoder"
                )
            case .switchedOff:
                (
                    actor.map { "\(who)'s \(device) was switched off by \($0)" } ?? "\(who)'s \(device) is off",
                    "Switch the \(device) on here, or ask \(who) to"
                )
            case .notDecoded:
                (
                    "What \(who)'s \(device) sends cannot be decoded",
                    "Use H.264 and AAC in the encoder, and start it again"
                )
            case .silent:
                (
                    "\(who)'s microphone has been silent for more than \(Int(HostSymptoms.silenceTime)) s",
                    "Check the microphone's mute switch, and which microphone the encoder uses"
                )
            case .gainDown:
                ("\(who)'s gain is all the way down", "Raise the gain")
            case .ducked:
                ("\(who) is quieter while another host speaks", "Change the ducking, or take the priority away")
            case .late:
                (
                    "\(who)'s media arrives too late, and parts of it are left out",
                    "Raise the jitter buffer of the host, or lower the bitrate of the encoder"
                )
            case .noTile:
                ("\(who) has no tile in this layout", "Pin \(who), or choose a layout with more tiles")
            case .overload:
                (
                    "The mixer shows no video of hosts, because the processor is too slow",
                    "See the advice for the program"
                )
            case .backstage:
                ("The audience sees a slate until the show goes live", "Go live")
            }
        return HostDiagnosis.Finding(cause: cause, message: message, advice: advice, by: actor)
    }

    // MARK: Program

    private func programDiagnosis(cores: Int) -> ProgramDiagnosis {
        let level = load?.level ?? 0
        let percent = load.map { Int((min(max($0.cores, 0), 4096) / Double(max(cores, 1)) * 100).rounded()) }
        let message =
            switch level {
            case 0: load == nil ? "No program is being made" : "The program is made without any loss"
            case 1: "The picture is a little less sharp"
            case 2: "Small tiles are updated less often"
            case 3: "The program has a third of its frames"
            case 4: "Only the first tiles and the speaker move"
            case 5: "The smaller sizes of the program are missing"
            default: "The audience sees cards instead of video; the sound is complete"
            }
        let found = level == 0 ? nil : percent.map { loadAdvice($0) }
        return ProgramDiagnosis(
            level: level,
            message: level == 0 ? message : message + ", because the processor is too slow",
            advice: found?.sentence ?? "",
            adviceCode: found?.code,
            values: found?.values ?? [:],
            processorPercent: percent
        )
    }

    /// Returns the change that would take the most load off the processor.
    ///
    /// - Parameter percent: The share of the machine's processors that the mixer uses.
    private func loadAdvice(
        _ percent: Int
    ) -> (code: ProgramDiagnosis.Advice, sentence: String, values: [String: Int]) {
        let program = settings.program
        let height = min(program.width, program.height)
        let cost = "costs \(percent) % of this machine"
        var values = ["percent": percent, "height": height]
        if percent < Self.smallShare {
            let sentence = "This program takes \(percent) % of the machine: end other shows, and what else runs there"
            return (.endOthers, sentence, values)
        }
        if let renditions = program.ladder?.renditions, renditions.count > 1 {
            values["count"] = renditions.count
            let sentence = "The program with \(renditions.count) further sizes \(cost): leave some of them out"
            return (.fewerRenditions, sentence, values)
        }
        if height > 720 { return (.make720p, "The program of \(height)p \(cost): make it 720p", values) }
        if program.frameRate.perSecond > 30 {
            return (.make30Frames, "The program \(cost): make it 30 frames per second", values)
        }
        if height > 480 {
            return (.make480p, "The program of \(height)p \(cost): make it 480p, or use a larger machine", values)
        }
        return (.largerMachine, "The program \(cost): end other shows, or use a larger machine", values)
    }
}
