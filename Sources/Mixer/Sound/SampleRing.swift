/// A circular store of stereo samples, read from the front and written at the back, with fades in place.
///
/// Positions are counts since the beginning: `readIndex` up to, not including, `writeIndex` is held.
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

    /// Appends `count` samples; what there is no room for is left out.
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

    /// Appends `count` samples of silence, at most what there is room for.
    mutating func appendSilence(_ count: Int) {
        for _ in 0..<max(min(count, room), 0) {
            let index = Int(writeIndex & mask)
            store.left[index] = 0
            store.right[index] = 0
            writeIndex += 1
        }
    }

    /// Takes `count` samples from the front, at most what is held; returns how many.
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

    /// Drops `count` samples from the front, at most what is held.
    mutating func skip(_ count: Int) {
        readIndex += Int64(max(min(count, self.count), 0))
    }

    /// Drops `count` samples from the front, blending from what would have come into what comes instead.
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

    /// Raises the gain from nothing to one over `length` samples that begin at `index`.
    mutating func fadeIn(at index: Int64, length: Int) {
        ramp(from: index, length: length, rising: true)
    }

    /// Lowers the gain to nothing over the last `length` samples held.
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
