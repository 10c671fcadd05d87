import NIOCore

/// A send queue that drops packets by priority, age and size when its target is slower than the program.
///
/// A live push must stay close to real time, so what cannot be sent in time is dropped, the least important first:
/// disposable frames, then every frame up to the next keyframe. Audio, configuration and keyframes stay until the queue
/// reaches a hard limit; then the oldest GOPs are dropped, and audio beyond its age limit.
///
/// Ages are differences of packet timestamps (milliseconds, decode time on the program's clock), never of wall time.
public struct CongestionQueue: Sendable {
    /// Age and size thresholds of the drop rules.
    public struct Limits: Sendable, Equatable {
        /// Milliseconds of queued media above which disposable frames are dropped.
        public var disposable: Int64
        /// Milliseconds above which all frames are dropped until the next keyframe.
        public var frames: Int64
        /// Milliseconds above which audio and whole GOPs are dropped too.
        public var audio: Int64
        /// Bytes of packet bodies that the queue never exceeds.
        public var bytes: Int
        /// Milliseconds above which keyframes are dropped with all other frames, so that a bad link still carries
        /// audio; disabled by default.
        public var keyframes: Int64

        /// Makes limits; the defaults suit a live push.
        public init(
            disposable: Int64 = 700,
            frames: Int64 = 900,
            audio: Int64 = 5000,
            bytes: Int = 8 << 20,
            keyframes: Int64 = .max
        ) {
            self.disposable = disposable
            self.frames = frames
            self.audio = audio
            self.bytes = bytes
            self.keyframes = keyframes
        }
    }

    /// The number of dropped packets, by kind.
    public struct Drops: Sendable, Equatable {
        /// Disposable frames: no other frame refers to them.
        public var disposableFrames: UInt64 = 0
        /// Frames that other frames refer to.
        public var referenceFrames: UInt64 = 0
        /// Keyframes.
        public var keyframes: UInt64 = 0
        /// Coded audio frames.
        public var audioFrames: UInt64 = 0
        /// Configuration packets replaced by a newer one of the same kind while both were queued.
        public var configurations: UInt64 = 0

        /// The total.
        public var total: UInt64 { allFrames + audioFrames + configurations }

        /// Video frames of every kind.
        public var allFrames: UInt64 { disposableFrames + referenceFrames + keyframes }

        /// Makes counters of zero.
        public init() {}
    }

    /// The thresholds of the queue.
    public let limits: Limits
    /// Packets dropped since the queue was made.
    public private(set) var dropped = Drops()
    /// Bytes of all queued packet bodies.
    public private(set) var bytes = 0
    /// Whether frames are refused until the next keyframe, because a frame they refer to was dropped.
    public private(set) var isWaitingForKeyframe = false

    private var packets = CircularBuffer<MediaPacket>()

    /// Makes an empty queue.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The number of queued packets.
    public var count: Int { packets.count }

    /// Whether the queue is empty.
    public var isEmpty: Bool { packets.isEmpty }

    /// The packet that `popFirst` returns next.
    public var first: MediaPacket? { packets.first }

    /// Milliseconds from the oldest to the newest queued packet, ignoring configuration, which may be older.
    public var span: Int64 {
        guard let last = packets.last else { return 0 }
        return age(at: last)
    }

    /// Appends a packet and drops what exceeds the limits; the packet itself may be dropped.
    public mutating func append(_ packet: MediaPacket) {
        if case .video(_, let isKey, let isDisposable) = packet.content {
            if isKey {
                isWaitingForKeyframe = false
            } else if isWaitingForKeyframe {
                count(dropOf: packet)
                return
            } else if isDisposable, age(at: packet) > limits.disposable {
                count(dropOf: packet)
                drop { $0.isDisposableFrame }
                return
            }
        }
        packets.append(packet)
        bytes += packet.body.readableBytes
        if span > limits.disposable { applySoftLimits() }
        if bytes > limits.bytes || span > limits.audio { applyHardLimits() }
    }

    /// Removes and returns the oldest packet.
    public mutating func popFirst() -> MediaPacket? {
        guard let packet = packets.popFirst() else { return nil }
        bytes -= packet.body.readableBytes
        return packet
    }

    /// Removes every packet without counting it as dropped, and accepts any packet next.
    public mutating func removeAll() {
        packets.removeAll(keepingCapacity: true)
        bytes = 0
        isWaitingForKeyframe = false
    }

    private func age(at packet: MediaPacket) -> Int64 {
        guard let first = packets.first(where: { !$0.isConfiguration }) else { return 0 }
        return max(0, packet.timestamp - first.timestamp)
    }

    /// Applies the soft limits: drops disposable frames, then dependent ones.
    private mutating func applySoftLimits() {
        drop { $0.isDisposableFrame }
        guard span > limits.frames else { return }
        let lastKey = packets.lastIndex { $0.isKeyframe }
        let endsInDependentFrames = packets.indices.contains { index in
            packets[index].isDependentFrame && (lastKey.map { index > $0 } ?? true)
        }
        drop { $0.isDependentFrame }
        // Only a gap after the newest keyframe affects later frames.
        if endsInDependentFrames { isWaitingForKeyframe = true }
        if span > limits.keyframes, packets.contains(where: \.isFrame) {
            drop { $0.isFrame }
            isWaitingForKeyframe = true
        }
    }

    /// Applies the hard limits: drops whole GOPs from the oldest, audio by age, then everything but the newest packets.
    private mutating func applyHardLimits() {
        guard let newest = packets.last else { return }
        let oldestAudio = newest.timestamp - limits.audio
        drop { $0.isAudioFrame && $0.timestamp < oldestAudio }
        while bytes > limits.bytes || span > limits.audio, dropOldestGOP() {}
        if bytes > limits.bytes || span > limits.audio { dropReplacedConfiguration() }
        if bytes > limits.bytes { drop { $0.isAudioFrame } }
        if bytes > limits.bytes { drop { $0.isConfiguration } }
    }

    /// Drops the frames before the second keyframe, or all of them; returns false when there are none.
    private mutating func dropOldestGOP() -> Bool {
        guard let start = packets.firstIndex(where: { $0.isFrame }) else { return false }
        let next = packets[packets.index(after: start)...].firstIndex { $0.isKeyframe }
        let end = next ?? packets.endIndex
        var kept = CircularBuffer<MediaPacket>(initialCapacity: packets.count)
        for index in packets.indices {
            let packet = packets[index]
            if index < end, packet.isFrame { count(dropOf: packet) } else { kept.append(packet) }
        }
        replace(with: kept)
        if next == nil { isWaitingForKeyframe = true }
        return true
    }

    /// Keeps only the newest queued configuration of each kind, once the media between them is dropped.
    private mutating func dropReplacedConfiguration() {
        var seen: [MediaPacket.Content] = []
        var kept: [MediaPacket] = []
        for packet in packets.reversed() {
            if packet.isConfiguration {
                if seen.contains(packet.content) {
                    count(dropOf: packet)
                    continue
                }
                seen.append(packet.content)
            }
            kept.append(packet)
        }
        replace(with: CircularBuffer(kept.reversed()))
    }

    private mutating func drop(where isUnwanted: (MediaPacket) -> Bool) {
        guard packets.contains(where: isUnwanted) else { return }
        var kept = CircularBuffer<MediaPacket>(initialCapacity: packets.count)
        for packet in packets {
            if isUnwanted(packet) { count(dropOf: packet) } else { kept.append(packet) }
        }
        replace(with: kept)
    }

    private mutating func replace(with kept: CircularBuffer<MediaPacket>) {
        packets = kept
        bytes = kept.reduce(0) { $0 + $1.body.readableBytes }
    }

    private mutating func count(dropOf packet: MediaPacket) {
        switch packet.content {
        case .video(_, isKey: true, _): dropped.keyframes += 1
        case .video(_, isKey: false, isDisposable: true): dropped.disposableFrames += 1
        case .video, .videoEnd: dropped.referenceFrames += 1
        case .audio: dropped.audioFrames += 1
        case .metadata, .videoConfiguration, .audioConfiguration: dropped.configurations += 1
        }
    }
}

extension MediaPacket {
    fileprivate var isFrame: Bool {
        switch content {
        case .video, .videoEnd: true
        case .metadata, .videoConfiguration, .audioConfiguration, .audio: false
        }
    }

    fileprivate var isAudioFrame: Bool {
        if case .audio = content { true } else { false }
    }

    fileprivate var isDisposableFrame: Bool {
        if case .video(_, isKey: false, isDisposable: true) = content { true } else { false }
    }

    /// Whether the packet is a frame that is neither a keyframe nor disposable.
    fileprivate var isDependentFrame: Bool {
        if case .video(_, isKey: false, isDisposable: false) = content { true } else { false }
    }
}
