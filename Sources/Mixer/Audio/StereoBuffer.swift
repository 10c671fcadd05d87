/// A buffer of two channels of 48 kHz samples with one owner, reused for every block.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct StereoBuffer: ~Copyable, @unchecked Sendable {
    let left: UnsafeMutablePointer<Float>
    let right: UnsafeMutablePointer<Float>
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        left = .allocate(capacity: capacity)
        right = .allocate(capacity: capacity)
        left.initialize(repeating: 0, count: capacity)
        right.initialize(repeating: 0, count: capacity)
    }

    deinit {
        left.deallocate()
        right.deallocate()
    }

    /// Makes the first `count` samples silent.
    func clear(_ count: Int) {
        left.update(repeating: 0, count: count)
        right.update(repeating: 0, count: count)
    }
}

/// A ring buffer of stereo samples, with fades in place.
///
/// Positions count from the beginning: `readIndex` up to, not including, `writeIndex` is buffered.
struct SampleRing: ~Copyable, Sendable {
    private let store: StereoBuffer
    private let mask: Int64
    private(set) var readIndex: Int64 = 0
    private(set) var writeIndex: Int64 = 0

    /// - Parameter capacity: In samples, a power of two.
    init(capacity: Int) {
        store = StereoBuffer(capacity: capacity)
        mask = Int64(capacity - 1)
    }

    var count: Int { Int(writeIndex - readIndex) }
    var room: Int { store.capacity - count }

    /// Appends `count` samples, limited to the free space.
    mutating func append(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        let count = min(count, room)
        var done = 0
        while done < count {
            let start = Int(writeIndex & mask)
            let length = min(count - done, store.capacity - start)
            (store.left + start).update(from: left + done, count: length)
            (store.right + start).update(from: right + done, count: length)
            writeIndex += Int64(length)
            done += length
        }
    }

    /// Appends `count` samples of silence, limited to the free space.
    mutating func appendSilence(_ count: Int) {
        for _ in 0..<max(min(count, room), 0) {
            let index = Int(writeIndex & mask)
            store.left[index] = 0
            store.right[index] = 0
            writeIndex += 1
        }
    }

    /// Reads `count` samples from the front, limited to what is buffered; returns how many.
    mutating func read(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, count: Int) -> Int {
        let count = min(count, self.count)
        var done = 0
        while done < count {
            let start = Int(readIndex & mask)
            let length = min(count - done, store.capacity - start)
            (left + done).update(from: store.left + start, count: length)
            (right + done).update(from: store.right + start, count: length)
            readIndex += Int64(length)
            done += length
        }
        return count
    }

    /// Drops `count` samples from the front, limited to what is buffered.
    mutating func skip(_ count: Int) {
        readIndex += Int64(max(min(count, self.count), 0))
    }

    /// Drops `count` samples from the front, with a cross-fade into the samples after them.
    mutating func skip(_ count: Int, blending length: Int) {
        let count = min(count, self.count)
        let length = min(length, count, self.count - count)
        for offset in 0..<max(length, 0) {
            let weight = (Float(offset) + 0.5) / Float(length)
            let from = Int((readIndex + Int64(offset)) & mask)
            let to = Int((readIndex + Int64(count + offset)) & mask)
            store.left[to] = store.left[from] * (1 - weight) + store.left[to] * weight
            store.right[to] = store.right[from] * (1 - weight) + store.right[to] * weight
        }
        skip(count)
    }

    /// Fades in `length` samples that begin at `index`.
    mutating func fadeIn(at index: Int64, length: Int) {
        ramp(from: index, length: length, rising: true)
    }

    /// Fades out the last `length` samples.
    mutating func fadeOutEnd(length: Int) {
        let length = min(length, count)
        ramp(from: writeIndex - Int64(length), length: length, rising: false)
    }

    private mutating func ramp(from index: Int64, length: Int, rising: Bool) {
        guard length > 0 else { return }
        let first = max(index, readIndex)
        for position in first..<max(min(index + Int64(length), writeIndex), first) {
            let progress = (Float(position - index) + 0.5) / Float(length)
            let gain = rising ? progress : 1 - progress
            store.left[Int(position & mask)] *= gain
            store.right[Int(position & mask)] *= gain
        }
    }
}

/// Operations on eight samples at a time.
///
/// The library's maximum and fused multiply-add call functions per lane on processors without such an instruction;
/// these are one or two instructions everywhere.
extension SIMD8<Float> {
    /// Loads the eight samples from `samples` on.
    @inline(__always)
    init(loading samples: UnsafePointer<Float>) {
        self = UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<Float>.self)
    }

    /// The absolute values.
    @inline(__always)
    var size: SIMD8<Float> {
        unsafeBitCast(unsafeBitCast(self, to: SIMD8<UInt32>.self) & 0x7FFF_FFFF, to: SIMD8<Float>.self)
    }

    /// Returns the lane-wise maximum.
    @inline(__always)
    func larger(_ other: SIMD8<Float>) -> SIMD8<Float> {
        replacing(with: other, where: other .> self)
    }

    /// Returns the largest absolute value of `count` samples.
    static func loudest(_ samples: UnsafePointer<Float>, _ count: Int) -> Float {
        var largest = SIMD8<Float>()
        var index = 0
        while index + 8 <= count {
            largest = largest.larger(SIMD8(loading: samples + index).size)
            index += 8
        }
        var loudest = largest.max()
        while index < count {
            loudest = Swift.max(loudest, abs(samples[index]))
            index += 1
        }
        return loudest
    }
}
