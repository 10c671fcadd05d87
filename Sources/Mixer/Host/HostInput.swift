import Codecs
import Dispatch
public import Media
import Stage
import Synchronization

/// Where one host's packets enter the mixer, and where its decoded media wait for their turn.
///
/// Three threads meet here: `receive` on the caller's, decoding on the host's own, and the program's, which takes
/// pictures and sound out. Two short locks keep them apart; none is held while anything is decoded.
public final class HostInput: Sendable {
    /// Milliseconds before its turn at which a picture is decoded.
    ///
    /// Until then it waits coded, which is small; and what is decoded late is still in the processor's cache when it is
    /// scaled.
    static let pictureLead = 100.0
    /// Milliseconds by which the pictures that follow one whose turn has come are decoded along with it.
    ///
    /// What they are made of is still in the processor's cache then, where that of other hosts would take its place.
    static let pictureBatch = 100.0
    /// Milliseconds before its turn at which sound is decoded; it is mixed well ahead of the pictures beside it.
    static let soundLead = 200.0

    /// The participant's sid.
    public let id: String
    /// Its pictures are those of a screen: they come only when something on it changes.
    let mayStandStill: Bool
    let anchor: ProgramAnchor
    let media = Mutex(DecodedMedia())
    /// What the decoder may leave out, and the program's thread changes.
    let economy = Mutex(VideoDecoder.Economy.none)
    /// How the host is seen, which the program's thread changes.
    private let views = Mutex(HostViews())

    /// Says that this host's media is being decoded.
    let mark: WorkMark?
    /// Counts the beginnings and ends of packets that are decoded.
    private let works = Atomic<UInt64>(0)
    private let recorder: ArrivalRecorder?
    /// Its number in a recording.
    let recordedNumber: Int
    private let target: Atomic<Int>
    private let intake: Mutex<Intake>
    private let isClosed = Atomic(false)
    private let isWoken = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)

    fileprivate struct Intake: Sendable {
        var unifier = TimestampUnifier()
        var timeline: HostTimeline
        var unheard = UnheardSound()
        var unheardByHosts = UnheardSound()
        var inbox = PacketInbox()
        /// Pictures are being decoded, and those that follow soon are as well.
        var isInBatch = false
        var packets: Int64 = 0
        var unsupported: Int64 = 0
        var lastPicture: Int64 = 0
        var lastSound: Int64 = 0
        var newest: Int64?
        /// When the last picture that has come is to be shown, in the host's unified time.
        var newestPicture: Int64?
    }

    /// - Parameters:
    ///   - jitterTarget: Milliseconds.
    ///   - mayStandStill: Pictures come only when something changes.
    ///   - recorder: Takes down what arrives.
    ///   - mark: Shows from outside that this host's media is being decoded.
    init(
        id: String,
        anchor: ProgramAnchor,
        jitterTarget: Int,
        mayStandStill: Bool = false,
        recorder: ArrivalRecorder? = nil,
        mark: WorkMark? = nil
    ) {
        self.id = id
        self.mayStandStill = mayStandStill
        self.mark = mark
        self.anchor = anchor
        self.recorder = recorder
        target = Atomic(jitterTarget)
        recordedNumber =
            recorder?.addHost(id, jitterTarget: jitterTarget, mayStandStill: mayStandStill) ?? 0
        intake = Mutex(Intake(timeline: HostTimeline(target: Double(jitterTarget))))
    }

    /// Another number with each packet whose decoding begins or ends; see `isWorking`.
    var work: UInt64 { works.load(ordering: .relaxed) }

    /// Whether a packet was being decoded when `work` had this value.
    static func isWorking(_ work: UInt64) -> Bool { work % 2 == 1 }

    /// The decode thread begins with a packet.
    func beginWork() {
        works.add(1, ordering: .relaxed)
        mark?.begin()
    }

    /// The decode thread is done with a packet.
    func endWork() {
        mark?.end()
        works.add(1, ordering: .relaxed)
    }

    /// Takes one packet in; returns at once.
    ///
    /// - Parameters:
    ///   - packet: Its timestamp is the host's own clock and may begin anywhere and leap.
    ///   - arrival: When it came from the network; never earlier than in the call before.
    public func receive(_ packet: MediaPacket, arrival: MonotonicTime) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        let arrived = anchor.milliseconds(at: arrival)
        let isDue = intake.withLock { intake in
            // Under the lock, so that the packets of a host are recorded in the order in which they take effect.
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

    var hasEnded: Bool { isClosed.load(ordering: .relaxed) }

    func close() {
        isClosed.store(true, ordering: .relaxed)
        wakeUp()
    }

    /// Lets the decode thread sleep until something is due, at most until `moment`.
    func waitForWork(until moment: MonotonicTime) {
        let remaining = moment.nanoseconds - MonotonicTime.now().nanoseconds
        guard remaining > 0 else { return }
        _ = wake.wait(timeout: .now() + .nanoseconds(Int(remaining)))
        isWoken.store(false, ordering: .sequentiallyConsistent)
    }

    private func wakeUp() {
        if !isWoken.exchange(true, ordering: .sequentiallyConsistent) { wake.signal() }
    }

    /// The jitter target asked for last, in milliseconds, in force or not yet.
    var wantedJitterTarget: Int {
        get { target.load(ordering: .relaxed) }
        set { target.store(newValue, ordering: .relaxed) }
    }

    /// Changes how long the host's media is held back, milliseconds; it moves there unheard.
    func setJitterTarget(_ target: Int) {
        intake.withLock { $0.timeline.target = Double(target) }
    }

    /// Says whether nothing of the host may be seen.
    ///
    /// What came while it was so never is, be it decoded by the end of that or not.
    func conceal(_ isConcealed: Bool) {
        if isConcealed { return media.withLock { $0.conceal() } }
        let newest = intake.withLock { $0.newestPicture }
        media.withLock { $0.reveal(after: newest) }
    }

    /// Says how the host is seen from now on; the program's thread.
    ///
    /// - Parameter now: Program time in milliseconds; nil before there is any.
    /// - Returns: The number of its return when it comes back from no tile, and what it is to show has to be decoded.
    func show(as view: HostView, at now: Double?) -> Int? {
        // Only the program's thread changes it: what is read here stays true.
        let newest = views.withLock { $0.newest }
        guard view != newest else { return nil }
        let isReturning = newest == .hidden
        // Before the decode thread may begin with it.
        if isReturning { media.withLock { $0.setApart() } }
        let offset = intake.withLock { $0.timeline.provisionalOffset }
        let lead = Self.pictureLead + Self.pictureBatch + HostViews.margin
        let start = now.flatMap { now in offset.map { now - $0 + lead } }
        let returns = views.withLock { views in
            views.change(to: view, from: start)
            return views.returns
        }
        guard isReturning else { return nil }
        wakeUp()
        return returns
    }

    /// Lets `decoder` know how the host is seen with the picture in `packet`, and how much it is to do.
    func instruct(_ decoder: inout HostDecoder, for packet: MediaPacket?) {
        decoder.economy = economy.withLock { $0 }
        let (view, returns) = views.withLock { ($0.follow(packet), $0.returns) }
        decoder.view = view
        if packet == nil, decoder.returns != returns, !decoder.isBehind {
            decoder.returns = returns
            media.withLock { $0.returns = returns }
        }
    }

    /// Moves the host's offset on; the program's thread, once per quantum.
    ///
    /// - Parameters:
    ///   - now: Program time in milliseconds.
    ///   - isHeard: The host's sound is in the program from now on.
    ///   - isHeardByHosts: It is in what the other hosts hear; nil for as it is in the program.
    /// - Returns: The offset (nil until settled), what it gains per millisecond, and what may be heard.
    func advance(
        to now: Double,
        isHeard: Bool,
        isHeardByHosts: Bool? = nil
    ) -> (
        offset: Double?, rate: Double,
        permission: (program: UnheardSound.Permission, talkback: UnheardSound.Permission)
    ) {
        intake.withLock { intake in
            intake.timeline.advance(to: now)
            let program = intake.unheard.permission(at: now, isHeard: isHeard)
            let talkback = intake.unheardByHosts.permission(at: now, isHeard: isHeardByHosts ?? isHeard)
            return (intake.timeline.offset, intake.timeline.rate, (program, talkback))
        }
    }

    /// The next packet whose turn to be decoded has come by `now` (program time in milliseconds).
    func takeDue(at now: Double) -> MediaPacket? {
        intake.withLock { $0.takeDue(at: now) }
    }

    /// Processor seconds of the host's decode thread.
    var processor: MixerStatistics.Processor {
        media.withLock { media in
            var used = MixerStatistics.Processor()
            used.decode = media.decodeSeconds
            used.compose = media.reducingSeconds
            used.sound = media.soundSeconds
            used.rest = max(media.threadSeconds - used.decode - used.compose - used.sound, 0)
            return used
        }
    }

    /// Everything known here; the program's thread adds what it knows.
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
            host.timestampLeaps = Int64(intake.unifier.leaps)
            host.packets = intake.packets
            host.unsupported = intake.unsupported
            host.packetsDropped = intake.inbox.droppedPackets
            host.groupsDropped = intake.inbox.droppedGroups
            if let newest = intake.newest, let offset = intake.timeline.offset {
                host.buffer = Double(newest) + offset - now
            }
        }
        media.withLock { media in
            host.pictures = media.pictureCount
            host.picturesDropped = media.overflowed
            host.decodeErrors = media.decodeErrors
            host.decodeSeconds = media.decodeSeconds
            host.reducingSeconds = media.reducingSeconds
            host.soundSeconds = media.soundSeconds
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
            packet.timestamp = lastPicture
        case .audioConfiguration(.aac):
            packet.timestamp = lastSound
        case .picture(.h264, _, _):
            packet.timestamp = unifier.unify(packet.timestamp, kind: .picture, arrival: arrival)
            lastPicture = packet.timestamp
            let shown = packet.timestamp + min(max(Int64(packet.compositionOffset), 0), PacketInbox.span)
            newestPicture = max(newestPicture ?? shown, shown)
            timeline.observe(.picture, timestamp: packet.timestamp, arrival: arrival)
        case .sound(.aac), .sound(.mp3):
            packet.timestamp = unifier.unify(packet.timestamp, kind: .sound, arrival: arrival)
            lastSound = packet.timestamp
            unheard.arrived(packet.timestamp, at: arrival)
            unheardByHosts.arrived(packet.timestamp, at: arrival)
            timeline.observe(.sound, timestamp: packet.timestamp, arrival: arrival)
        case .metadata, .videoEnd:
            return
        case .videoConfiguration, .audioConfiguration, .picture, .sound:
            unsupported += 1
            return
        }
        if !packet.isConfiguration { newest = max(newest ?? packet.timestamp, packet.timestamp) }
        inbox.append(packet)
    }

    /// Whether a packet waits whose turn to be decoded has come; the first of all have none before the host has settled.
    func isDue(at now: Double) -> Bool {
        guard let offset = timeline.offset else { return false }
        let hostTime = now - offset
        return inbox.nextSound.map { Double($0) <= hostTime + HostInput.soundLead } ?? false
            || inbox.nextPicture.map { Double($0) <= hostTime + HostInput.pictureLead } ?? false
    }

    mutating func takeDue(at now: Double) -> MediaPacket? {
        guard let offset = timeline.provisionalOffset else { return nil }
        let hostTime = now - offset
        inbox.catchUp(to: hostTime)
        let (picture, sound) = (inbox.nextPicture, inbox.nextSound)
        // Sound first: it is cheap, and a gap in it is heard.
        if let sound, Double(sound) <= hostTime + HostInput.soundLead { return inbox.popSound() }
        let lead = HostInput.pictureLead + (isInBatch ? HostInput.pictureBatch : 0)
        isInBatch = picture.map { Double($0) <= hostTime + lead } ?? false
        return isInBatch ? inbox.popPicture() : nil
    }
}
