/// Two channels of 48 kHz samples with one owner; made once and filled again and again.
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
