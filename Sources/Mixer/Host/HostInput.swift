import Codecs
import Dispatch
public import Media
import Stage
import Synchronization

/// The entry of one host's packets into the mixer, with its queues of undecoded and decoded media.
///
/// Three threads use it: `receive` runs on the caller's, decoding on the host's own, and the program's reads frames and
/// audio. Two locks, held only briefly, separate them; none is held while decoding.
public final class HostInput: Sendable {
    /// Milliseconds before its presentation at which a frame is decoded.
    ///
    /// Until then it waits encoded, which is small; a frame decoded late is still in the processor's cache when it is
    /// scaled.
    static let videoLead = 100.0
    /// Milliseconds by which frames that follow a due one are decoded along with it.
    ///
    /// Their reference frames are still in the processor's cache then, before those of other hosts evict them.
    static let videoBatch = 100.0
    /// Milliseconds before its presentation at which audio is decoded; it is mixed well ahead of the matching frames.
    static let audioLead = 200.0

    /// The participant's sid.
    public let id: String
    /// Whether the video is a screen share, which sends frames only when something changes.
    let isScreenShare: Bool
    let anchor: ProgramAnchor
    let media = Mutex(DecodedMedia())
    /// What the decoder may skip; set by the program's thread.
    let economy = Mutex(VideoDecoder.Economy.none)
    /// How the host is shown; set by the program's thread.
    private let visibilitySchedule = Mutex(HostVisibilitySchedule())

    /// Marks that this host's media is being decoded.
    let marker: DecodeMarker?
    /// Counts the starts and ends of packet decodes.
    private let works = Atomic<UInt64>(0)
    private let recorder: ArrivalRecorder?
    /// The input's number in a recording.
    let recordedNumber: Int
    private let target: Atomic<Int>
    private let intake: Mutex<Intake>
    private let isClosed = Atomic(false)
    private let isWoken = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)

    fileprivate struct Intake: Sendable {
        var unifier = TimestampUnifier()
        var timeline: HostTimeline
        var programGate = MuteGate()
        var talkbackGate = MuteGate()
        var inbox = PacketInbox()
        /// Whether a batch of frames is being decoded.
        var isInBatch = false
        var packets: Int64 = 0
        var unsupported: Int64 = 0
        var lastFrame: Int64 = 0
        var lastAudio: Int64 = 0
        var newest: Int64?
        /// The packet that configures the decoder of `keyframe`, and those after it.
        var configuration: MediaPacket?
        var keyframe: HostKeyframe?
        /// The presentation time of the newest frame, in the host's unified time.
        var newestFrame: Int64?
    }

    /// - Parameters:
    ///   - jitterTarget: Milliseconds.
    ///   - isScreenShare: Frames come only when something changes.
    ///   - recorder: Records what arrives.
    ///   - marker: Marks for the supervisor that this host's media is being decoded.
    init(
        id: String,
        anchor: ProgramAnchor,
        jitterTarget: Int,
        isScreenShare: Bool = false,
        recorder: ArrivalRecorder? = nil,
        marker: DecodeMarker? = nil
    ) {
        self.id = id
        self.isScreenShare = isScreenShare
        self.marker = marker
        self.anchor = anchor
        self.recorder = recorder
        target = Atomic(jitterTarget)
        recordedNumber =
            recorder?.addHost(id, jitterTarget: jitterTarget, isScreenShare: isScreenShare) ?? 0
        intake = Mutex(Intake(timeline: HostTimeline(target: Double(jitterTarget))))
    }

    /// A counter that changes with the start and the end of each packet decode; see `isWorking`.
    var work: UInt64 { works.load(ordering: .relaxed) }

    /// Returns whether a packet was being decoded when `work` had this value.
    static func isWorking(_ work: UInt64) -> Bool { work % 2 == 1 }

    /// Called by the decode thread before a packet.
    func beginWork() {
        works.add(1, ordering: .relaxed)
        marker?.begin()
    }

    /// Called by the decode thread after a packet.
    func endWork() {
        marker?.end()
        works.add(1, ordering: .relaxed)
    }

    /// Queues one packet; returns at once.
    ///
    /// - Parameters:
    ///   - packet: Its timestamp is on the host's own clock, which may begin anywhere and have discontinuities.
    ///   - arrival: When it came from the network; never earlier than in the call before.
    public func receive(_ packet: MediaPacket, arrival: MonotonicTime) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        let arrived = anchor.milliseconds(at: arrival)
        let isDue = intake.withLock { intake in
            // Under the lock, so that a host's packets are recorded in the order in which they take effect.
            recorder?.record(
                packet,
                from: recordedNumber,
                arrival: arrival.nanoseconds - anchor.start.nanoseconds
            )
            intake.receive(packet, arrival: arrived)
            return intake.isDue(at: arrived)
        }
        if isDue { wakeUp() }
    }

    /// The newest keyframe that was received, decoded or not; nil before the first.
    var newestKeyframe: HostKeyframe? { intake.withLock { $0.keyframe } }

    var hasEnded: Bool { isClosed.load(ordering: .relaxed) }

    func close() {
        isClosed.store(true, ordering: .relaxed)
        wakeUp()
    }

    /// Blocks the decode thread until something is due, at most until `moment`.
    func waitForWork(until moment: MonotonicTime) {
        let remaining = moment.nanoseconds - MonotonicTime.now().nanoseconds
        guard remaining > 0 else { return }
        _ = wake.wait(timeout: .now() + .nanoseconds(Int(remaining)))
        isWoken.store(false, ordering: .sequentiallyConsistent)
    }

    private func wakeUp() {
        if !isWoken.exchange(true, ordering: .sequentiallyConsistent) { wake.signal() }
    }

    /// The jitter target requested last, in milliseconds, in force or not yet.
    var requestedJitterTarget: Int {
        get { target.load(ordering: .relaxed) }
        set { target.store(newValue, ordering: .relaxed) }
    }

    /// Changes the host's playout delay in milliseconds; playback moves there inaudibly.
    func setJitterTarget(_ target: Int) {
        intake.withLock { $0.timeline.target = Double(target) }
    }

    /// Sets whether the host's video may not be shown.
    ///
    /// Frames that arrived while it was concealed are never shown, even if they are decoded later.
    func conceal(_ isConcealed: Bool) {
        if isConcealed { return media.withLock { $0.conceal() } }
        let newest = intake.withLock { $0.newestFrame }
        media.withLock { $0.reveal(after: newest) }
    }

    /// Sets how the host is shown from now on; called on the program's thread.
    ///
    /// - Parameter now: Program time in milliseconds; nil before there is any.
    /// - Returns: The number of the reappearance when the host gets a tile again and has to catch up; otherwise nil.
    func setVisibility(_ visibility: HostVisibility, at now: Double?) -> Int? {
        // Only the program's thread changes the schedule, so the value read here stays valid.
        let newest = visibilitySchedule.withLock { $0.newest }
        guard visibility != newest else { return nil }
        let isCatchingUp = newest == .hidden
        // Before the decode thread can begin to catch up.
        if isCatchingUp { media.withLock { $0.beginCatchUp() } }
        let offset = intake.withLock { $0.timeline.provisionalOffset }
        let lead = Self.videoLead + Self.videoBatch + HostVisibilitySchedule.margin
        let start = now.flatMap { now in offset.map { now - $0 + lead } }
        let reappearances = visibilitySchedule.withLock { visibilitySchedule in
            visibilitySchedule.change(to: visibility, from: start)
            return visibilitySchedule.reappearances
        }
        guard isCatchingUp else { return nil }
        wakeUp()
        return reappearances
    }

    /// Sets the visibility and the economy of `decoder` for the frame in `packet`.
    func configure(_ decoder: inout HostDecoder, for packet: MediaPacket?) {
        decoder.economy = economy.withLock { $0 }
        let (visibility, reappearances) = visibilitySchedule.withLock { ($0.follow(packet), $0.reappearances) }
        decoder.visibility = visibility
        if packet == nil, decoder.reappearances != reappearances, !decoder.isBehind {
            decoder.reappearances = reappearances
            media.withLock { $0.reappearances = reappearances }
        }
    }

    /// Advances the host's offset; called on the program's thread, once per quantum.
    ///
    /// - Parameters:
    ///   - now: Program time in milliseconds.
    ///   - isAudible: The host's audio is in the program from now on.
    ///   - isInTalkback: Its audio is in what the other hosts hear; nil for the same as in the program.
    /// - Returns: The offset (nil until settled), its change per millisecond, and what may be heard.
    func advance(
        to now: Double,
        isAudible: Bool,
        isInTalkback: Bool? = nil
    ) -> (
        offset: Double?, rate: Double,
        permission: (program: MuteGate.Permission, talkback: MuteGate.Permission)
    ) {
        intake.withLock { intake in
            intake.timeline.advance(to: now)
            let program = intake.programGate.permission(at: now, isAudible: isAudible)
            let talkback = intake.talkbackGate.permission(at: now, isAudible: isInTalkback ?? isAudible)
            return (intake.timeline.offset, intake.timeline.rate, (program, talkback))
        }
    }

    /// Removes and returns the next packet that is due for decoding at `now` (program time in milliseconds).
    func dequeueDuePacket(at now: Double) -> MediaPacket? {
        intake.withLock { $0.dequeueDuePacket(at: now) }
    }

    /// Processor seconds of the host's decode thread.
    var processor: MixerStatistics.Processor {
        media.withLock { media in
            var used = MixerStatistics.Processor()
            used.decode = media.decodeSeconds
            used.compose = media.downscaleSeconds
            used.audio = media.audioSeconds
            used.rest = max(media.threadSeconds - used.decode - used.compose - used.audio, 0)
            return used
        }
    }

    /// Returns the counters known here; the program's thread adds its own.
    func statistics(at now: Double) -> MixerStatistics.Host {
        var host = MixerStatistics.Host()
        host.id = id
        intake.withLock { intake in
            host.offset = intake.timeline.offset
            host.offsetChange = (intake.timeline.offset ?? 0) - (intake.timeline.firstOffset ?? 0)
            host.driftPartsPerMillion = intake.timeline.driftPartsPerMillion
            host.jitterTarget = intake.timeline.target
            host.offsetSteps = Int64(intake.timeline.steps)
            host.late = intake.timeline.late
            host.timestampDiscontinuities = Int64(intake.unifier.discontinuities)
            host.packets = intake.packets
            host.unsupported = intake.unsupported
            host.packetsDropped = intake.inbox.droppedPackets
            host.gopsDropped = intake.inbox.droppedGOPs
            if let newest = intake.newest, let offset = intake.timeline.offset {
                host.buffer = Double(newest) + offset - now
            }
        }
        media.withLock { media in
            host.frames = media.frameCount
            host.framesDropped = media.overflowed
            host.decodeErrors = media.decodeErrors
            host.decodeSeconds = media.decodeSeconds
            host.downscaleSeconds = media.downscaleSeconds
            host.audioSeconds = media.audioSeconds
        }
        return host
    }
}

extension HostInput.Intake {
    mutating func receive(_ packet: MediaPacket, arrival: Double) {
        packets += 1
        var packet = packet
        switch packet.content {
        case .videoConfiguration(.h264):
            packet.timestamp = lastFrame
            configuration = packet
        case .audioConfiguration(.aac):
            packet.timestamp = lastAudio
        case .video(.h264, _, _):
            packet.timestamp = unifier.unify(packet.timestamp, kind: .video, arrival: arrival)
            lastFrame = packet.timestamp
            let shown = packet.timestamp + min(max(Int64(packet.compositionOffset), 0), PacketInbox.span)
            newestFrame = max(newestFrame ?? shown, shown)
            timeline.observe(.video, timestamp: packet.timestamp, arrival: arrival)
            if packet.isKeyframe, let configuration {
                keyframe = HostKeyframe(configuration: configuration, packet: packet)
            }
        case .audio(.aac), .audio(.mp3):
            packet.timestamp = unifier.unify(packet.timestamp, kind: .audio, arrival: arrival)
            lastAudio = packet.timestamp
            programGate.observe(packet.timestamp, at: arrival)
            talkbackGate.observe(packet.timestamp, at: arrival)
            timeline.observe(.audio, timestamp: packet.timestamp, arrival: arrival)
        case .metadata, .videoEnd:
            return
        case .videoConfiguration, .audioConfiguration, .video, .audio:
            unsupported += 1
            return
        }
        if !packet.isConfiguration { newest = max(newest ?? packet.timestamp, packet.timestamp) }
        inbox.append(packet)
    }

    /// Returns whether a packet is due for decoding; none is before the host has settled.
    func isDue(at now: Double) -> Bool {
        guard let offset = timeline.offset else { return false }
        let hostTime = now - offset
        return inbox.nextAudio.map { Double($0) <= hostTime + HostInput.audioLead } ?? false
            || inbox.nextFrame.map { Double($0) <= hostTime + HostInput.videoLead } ?? false
    }

    mutating func dequeueDuePacket(at now: Double) -> MediaPacket? {
        guard let offset = timeline.provisionalOffset else { return nil }
        let hostTime = now - offset
        inbox.catchUp(to: hostTime)
        let (video, audio) = (inbox.nextFrame, inbox.nextAudio)
        // Audio first: it is cheap, and a gap in it is audible.
        if let audio, Double(audio) <= hostTime + HostInput.audioLead { return inbox.popAudio() }
        let lead = HostInput.videoLead + (isInBatch ? HostInput.videoBatch : 0)
        isInBatch = video.map { Double($0) <= hostTime + lead } ?? false
        return isInBatch ? inbox.popVideo() : nil
    }
}
