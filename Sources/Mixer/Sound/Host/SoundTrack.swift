/// A host's decoded sound, contiguous, with the host time of each sample.
///
/// Blocks are joined by their sample count; their timestamps, whole milliseconds from the wire, only steer the mapping
/// slowly. A block that is more than 40 ms away from where the count says it belongs leaves a gap of faded silence, or
/// loses the part that overlaps. Filled by the decode thread, read by the program's, under their host's lock.
struct SoundTrack: ~Copyable, Sendable {
    /// Samples over which the sound is faded where it breaks off and begins: 8 ms.
    static let fade = 384
    static let tolerance = 40.0
    /// A longer gap is not filled but taken as a new beginning.
    static let longestGap = 500.0
    /// 2.7 s at 48 kHz.
    static let capacity = 1 << 17
    /// So many blocks in a row that lie in the past mean that the mapping is wrong and not the blocks.
    private static let patience = 25

    private var ring = SampleRing(capacity: capacity)
    /// Host time in milliseconds of sample position 0; nil before the first block.
    private var origin: Double?
    private var isEndFaded = true
    private var discardedInRow = 0
    /// Samples lost because they overlapped or found no room.
    private(set) var dropped: Int64 = 0

    init() {}

    var count: Int { ring.count }

    /// Host time in milliseconds of the next sample to be read; nil before the first block.
    var headTime: Double? {
        origin.map { $0 + Double(ring.readIndex) / 48 }
    }

    /// Appends a block whose first sample has host time `timestamp` (milliseconds).
    mutating func append(
        _ left: UnsafePointer<Float>,
        _ right: UnsafePointer<Float>,
        count: Int,
        timestamp: Double
    ) {
        guard count > 0 else { return }
        var skipped = 0
        if let origin {
            let difference = timestamp - (origin + Double(ring.writeIndex) / 48)
            if difference > Self.tolerance {
                fillGap(difference)
            } else if difference < -Self.tolerance {
                skipped = min(Int(-difference * 48), count)
                dropped += Int64(skipped)
                guard skipped < count else { return discard(timestamp: timestamp) }
                fadeOutEnd()
            } else if ring.count == 0 && isEndFaded {
                // Nothing is heard at the moment, so the mapping can be put right at once.
                self.origin = origin + difference
            } else {
                self.origin = origin + difference * 0.02
            }
        } else {
            origin = timestamp - Double(ring.writeIndex) / 48
        }
        discardedInRow = 0
        store(left + skipped, right + skipped, count: count - skipped)
    }

    private mutating func store(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        if ring.room < count {
            // The reader is not taking anything; the oldest goes.
            dropped += Int64(count - ring.room)
            ring.skip(count - ring.room, blending: Self.fade)
        }
        let start = ring.writeIndex
        ring.append(left, right, count: count)
        if isEndFaded {
            ring.fadeIn(at: start, length: Self.fade)
            isEndFaded = false
        }
    }

    private mutating func fillGap(_ gap: Double) {
        fadeOutEnd()
        let filled = min(gap, Self.longestGap)
        let silence = Int(filled * 48)
        ring.skip(max(silence - ring.room, 0))
        ring.appendSilence(silence)
        if let origin { self.origin = origin + gap - Double(silence) / 48 }
    }

    private mutating func discard(timestamp: Double) {
        discardedInRow += 1
        guard discardedInRow > Self.patience else { return }
        discardedInRow = 0
        fadeOutEnd()
        origin = timestamp - Double(ring.writeIndex) / 48
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
        ring.read(left, right, count: count)
    }

    /// Drops `count` samples that nobody hears the absence of.
    mutating func skipUnheard(_ count: Int) {
        ring.skip(count)
    }

    /// Drops `count` samples while the sound is heard.
    mutating func skipBlending(_ count: Int) {
        ring.skip(count, blending: Self.fade)
    }

    /// Makes the next samples rise from nothing.
    mutating func fadeInHead() {
        ring.fadeIn(at: ring.readIndex, length: Self.fade)
    }
}
