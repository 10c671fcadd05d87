import DequeModule

/// Buffers a host's decoded audio contiguously, with the host time of each sample.
///
/// Blocks are joined by sample count; their timestamps, whole milliseconds, only steer the time mapping slowly. A block
/// more than 40 ms away from where the count puts it leaves a gap of faded silence, or loses its overlapping part;
/// where whole blocks are missing, the gap has their length. The correction of a block applies from its first sample
/// on, so that it does not matter how far ahead it was decoded. Filled by the decode thread, read by the program's,
/// under their host's lock.
struct HostAudioBuffer: ~Copyable, Sendable {
    /// Samples of a fade where the audio stops or starts: 5.3 ms.
    static let fade = 256
    static let tolerance = 40.0
    /// A gap longer than this many milliseconds is not filled; the mapping starts again after it.
    static let longestGap = 500.0
    /// 2.7 s at 48 kHz.
    static let capacity = 1 << 17
    /// The maximum number of samples that a reader has read and not returned yet.
    private static let memory: Int64 = 8192
    /// Consecutive blocks in the past after which the mapping is reset.
    private static let maximumConsecutiveDiscards = 25
    /// The tolerance in milliseconds for a timestamp after missing blocks.
    private static let blockTolerance = 2.5

    private var ring = SampleRing(capacity: capacity)
    /// Host time in milliseconds of sample position 0, as mapped at the end of the buffer; nil before the first block.
    private var origin: Double?
    /// The same as mapped at the head of the buffer.
    private var headOrigin: Double?
    /// The positions from which another origin applies.
    private var origins = Deque<(position: Int64, origin: Double)>()
    private var last: (timestamp: Double, count: Int)?
    /// The start positions of buffered and some earlier blocks, with the host times of their packets.
    private var blocks = Deque<(position: Int64, packet: Int64)>()
    /// The position from which on the buffer contains nothing of skipped audio.
    private var cleanPosition: Int64 = 0
    private var isEndFaded = true
    private var consecutiveDiscards = 0
    /// Samples dropped because they overlapped or exceeded the capacity.
    private(set) var dropped: Int64 = 0

    init() {}

    var count: Int { ring.count }

    /// Host time in milliseconds of the next sample to be read; nil before the first block.
    var headTime: Double? {
        headOrigin.map { $0 + Double(ring.readIndex) / 48 }
    }

    /// Appends a block whose first sample has host time `timestamp` (milliseconds).
    ///
    /// - Parameter packet: The host time of the block's packet, which a decoder smooths; nil if it is the same.
    mutating func append(
        _ left: UnsafePointer<Float>,
        _ right: UnsafePointer<Float>,
        count: Int,
        timestamp: Double,
        packet: Int64? = nil
    ) {
        guard count > 0 else { return }
        var skipped = 0
        if let origin {
            let difference = timestamp - (origin + Double(ring.writeIndex) / 48)
            if difference > Self.tolerance || isAfterMissing(timestamp, count: count, difference: difference) {
                fillGap(difference)
            } else if difference < -Self.tolerance {
                skipped = min(Int(-difference * 48), count)
                dropped += Int64(skipped)
                guard skipped < count else { return discard(timestamp: timestamp, count: count) }
                fadeOutEnd()
            } else if ring.count == 0 && isEndFaded {
                // Nothing is audible at the moment, so the mapping can be corrected at once.
                setOrigin(origin + difference)
            } else {
                steer(to: origin + difference * 0.02)
            }
        } else {
            setOrigin(timestamp - Double(ring.writeIndex) / 48)
        }
        consecutiveDiscards = 0
        last = (timestamp, count)
        recordBlock(packet ?? Int64(timestamp.rounded(.down)))
        store(left + skipped, right + skipped, count: count - skipped)
    }

    private mutating func store(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        if ring.room < count {
            // The reader has stopped; the oldest samples are dropped.
            dropped += Int64(count - ring.room)
            skipBlending(count - ring.room)
        }
        let start = ring.writeIndex
        ring.append(left, right, count: count)
        if isEndFaded {
            ring.fadeIn(at: start, length: Self.fade)
            isEndFaded = false
        }
    }

    private mutating func recordBlock(_ packet: Int64) {
        while blocks.count >= 3, blocks[2].position <= ring.readIndex - Self.memory {
            _ = blocks.popFirst()
        }
        blocks.append((ring.writeIndex, packet))
    }

    /// Returns whether the next sample, and those up to `pending` before it, contain nothing of packets up to
    /// `timestamp`, in the host's milliseconds.
    ///
    /// A decoder overlaps each block with the next, so one more block is excluded.
    func hasPlayed(_ timestamp: Int64, pending: Int) -> Bool {
        guard let first = blocks.firstIndex(where: { $0.packet > timestamp }), first + 1 < blocks.count else {
            return false
        }
        return ring.readIndex - Int64(pending) >= max(blocks[first + 1].position, cleanPosition)
    }

    private mutating func fillGap(_ gap: Double) {
        fadeOutEnd()
        let filled = min(gap, Self.longestGap)
        let silence = Int(filled * 48)
        ring.skip(max(silence - ring.room, 0))
        settleHead()
        ring.appendSilence(silence)
        guard let origin else { return }
        let moved = origin + gap - Double(silence) / 48
        if filled < gap { setOrigin(moved) } else { steer(to: moved) }
    }

    /// Returns whether the step from the last block is that of a whole number of lost blocks.
    ///
    /// A step back to where the count is only compensates for uneven timestamps: then nothing is missing.
    private func isAfterMissing(_ timestamp: Double, count: Int, difference: Double) -> Bool {
        guard let last else { return false }
        let length = Double(count) / 48
        let missing = timestamp - last.timestamp - Double(last.count) / 48
        let blocks = (missing / length).rounded()
        return blocks >= 1 && abs(missing - blocks * length) < Self.blockTolerance && difference > length / 2
    }

    /// Sets the origin of the whole buffer.
    private mutating func setOrigin(_ origin: Double) {
        self.origin = origin
        headOrigin = origin
        origins.removeAll(keepingCapacity: true)
    }

    /// Sets the origin of what is appended from now on.
    private mutating func steer(to origin: Double) {
        self.origin = origin
        origins.append((ring.writeIndex, origin))
        settleHead()
    }

    private mutating func settleHead() {
        while let next = origins.first, next.position <= ring.readIndex {
            headOrigin = next.origin
            _ = origins.popFirst()
        }
    }

    private mutating func discard(timestamp: Double, count: Int) {
        last = (timestamp, count)
        consecutiveDiscards += 1
        guard consecutiveDiscards > Self.maximumConsecutiveDiscards else { return }
        consecutiveDiscards = 0
        fadeOutEnd()
        setOrigin(timestamp - Double(ring.writeIndex) / 48)
    }

    /// Fades out the end of the buffered audio, unless that is done already; what is appended next fades in.
    mutating func fadeOutEnd() {
        guard !isEndFaded else { return }
        ring.fadeOutEnd(length: Self.fade)
        isEndFaded = true
    }

    var isEndSilent: Bool { isEndFaded }

    /// Reads up to `count` samples from the front; returns how many.
    mutating func read(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, count: Int) -> Int {
        let count = ring.read(left, right, count: count)
        settleHead()
        return count
    }

    /// Drops `count` samples while the host is silent.
    mutating func skipSilently(_ count: Int) {
        ring.skip(count)
        cleanPosition = ring.readIndex
        settleHead()
    }

    /// Drops `count` samples while the audio is playing, with a cross-fade.
    mutating func skipBlending(_ count: Int) {
        ring.skip(count, blending: Self.fade)
        cleanPosition = ring.readIndex + Int64(Self.fade)
        settleHead()
    }

    /// Fades in the next samples.
    mutating func fadeInHead() {
        ring.fadeIn(at: ring.readIndex, length: Self.fade)
    }
}
