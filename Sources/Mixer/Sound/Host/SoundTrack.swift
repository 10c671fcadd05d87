/// A host's decoded sound, contiguous, with the host time of each sample.
///
/// Blocks are joined by their sample count; their timestamps, whole milliseconds from the wire, only steer the mapping
/// slowly. A block that is more than 40 ms away from where the count says it belongs leaves a gap of faded silence, or
/// loses the part that overlaps; one before which whole blocks are missing leaves the gap of these. How a block steers the
/// mapping counts from its own first sample on, so that it does not matter how long before its turn it was decoded.
/// Filled by the decode thread, read by the program's, under their host's lock.
struct SoundTrack: ~Copyable, Sendable {
    /// Samples over which the sound is faded where it breaks off and begins: 5.3 ms.
    static let fade = 256
    static let tolerance = 40.0
    /// A longer gap is not filled but taken as a new beginning.
    static let longestGap = 500.0
    /// 2.7 s at 48 kHz.
    static let capacity = 1 << 17
    /// Samples that a reader has taken and not given on yet, at most.
    private static let memory: Int64 = 8192
    /// So many blocks in a row that lie in the past mean that the mapping is wrong and not the blocks.
    private static let patience = 25
    /// So many milliseconds may the timestamp after missing blocks be away from a whole number of them.
    private static let unevenness = 2.5

    private var ring = SampleRing(capacity: capacity)
    /// Host time in milliseconds of sample position 0, as the end of the track has it; nil before the first block.
    private var origin: Double?
    /// The same as the head of the track has it.
    private var headOrigin: Double?
    /// From which position on another origin counts.
    private var origins = Fifo<(position: Int64, origin: Double)>()
    private var last: (timestamp: Double, count: Int)?
    /// Where blocks begin, and the host times of their packets: those that are held, and some of those before.
    private var blocks = Fifo<(position: Int64, packet: Int64)>()
    /// What is held from this position on has nothing in it of what was skipped.
    private var cleanFrom: Int64 = 0
    private var isEndFaded = true
    private var discardedInRow = 0
    /// Samples lost because they overlapped or found no room.
    private(set) var dropped: Int64 = 0

    init() {}

    var count: Int { ring.count }

    /// Host time in milliseconds of the next sample to be read; nil before the first block.
    var headTime: Double? {
        headOrigin.map { $0 + Double(ring.readIndex) / 48 }
    }

    /// Appends a block whose first sample has host time `timestamp` (milliseconds).
    ///
    /// - Parameter packet: The host time of the packet it was in, which a decoder evens out; nil where it is the same.
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
                // Nothing is heard at the moment, so the mapping can be put right at once.
                place(origin + difference)
            } else {
                steer(to: origin + difference * 0.02)
            }
        } else {
            place(timestamp - Double(ring.writeIndex) / 48)
        }
        discardedInRow = 0
        last = (timestamp, count)
        note(packet ?? Int64(timestamp.rounded(.down)))
        store(left + skipped, right + skipped, count: count - skipped)
    }

    private mutating func store(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        if ring.room < count {
            // The reader is not taking anything; the oldest goes.
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

    private mutating func note(_ packet: Int64) {
        while blocks.count >= 3, let third = blocks[2], third.position <= ring.readIndex - Self.memory {
            _ = blocks.popFirst()
        }
        blocks.append((ring.writeIndex, packet))
    }

    /// Whether the next sample to be read, and those up to `pending` before it, have nothing in them of what came up to
    /// `timestamp`, in the host's milliseconds.
    ///
    /// A decoder lets each block run out into the one after it, so that one is left out, too.
    func isPast(_ timestamp: Int64, pending: Int) -> Bool {
        let first = (0..<blocks.count).first { blocks[$0].map { $0.packet > timestamp } ?? false }
        guard let first, let next = blocks[first + 1] else { return false }
        return ring.readIndex - Int64(pending) >= max(next.position, cleanFrom)
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
        if filled < gap { place(moved) } else { steer(to: moved) }
    }

    /// Whether the step from the block before is that of a whole number of blocks more, which were lost.
    ///
    /// A step back to where the count is makes up for timestamps that are merely uneven: then nothing is missing.
    private func isAfterMissing(_ timestamp: Double, count: Int, difference: Double) -> Bool {
        guard let last else { return false }
        let length = Double(count) / 48
        let missing = timestamp - last.timestamp - Double(last.count) / 48
        let blocks = (missing / length).rounded()
        return blocks >= 1 && abs(missing - blocks * length) < Self.unevenness && difference > length / 2
    }

    /// Gives all of the track another origin.
    private mutating func place(_ origin: Double) {
        self.origin = origin
        headOrigin = origin
        origins.removeAll()
    }

    /// Gives what is appended from now on another origin.
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
        discardedInRow += 1
        guard discardedInRow > Self.patience else { return }
        discardedInRow = 0
        fadeOutEnd()
        place(timestamp - Double(ring.writeIndex) / 48)
    }

    /// Fades the end of what is held to nothing, unless that is done already; what comes next will fade in.
    mutating func fadeOutEnd() {
        guard !isEndFaded else { return }
        ring.fadeOutEnd(length: Self.fade)
        isEndFaded = true
    }

    var isEndSilent: Bool { isEndFaded }

    /// Takes up to `count` samples from the front; returns how many.
    mutating func read(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, count: Int) -> Int {
        let count = ring.read(left, right, count: count)
        settleHead()
        return count
    }

    /// Drops `count` samples that nobody hears the absence of.
    mutating func skipUnheard(_ count: Int) {
        ring.skip(count)
        cleanFrom = ring.readIndex
        settleHead()
    }

    /// Drops `count` samples while the sound is heard.
    mutating func skipBlending(_ count: Int) {
        ring.skip(count, blending: Self.fade)
        cleanFrom = ring.readIndex + Int64(Self.fade)
        settleHead()
    }

    /// Makes the next samples rise from nothing.
    mutating func fadeInHead() {
        ring.fadeIn(at: ring.readIndex, length: Self.fade)
    }
}
