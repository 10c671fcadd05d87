/// Sample positions with one owner, without a check at each access.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct PositionRing: ~Copyable, @unchecked Sendable {
    let values: UnsafeMutablePointer<Int64>

    init(capacity: Int) {
        values = .allocate(capacity: capacity)
        values.initialize(repeating: 0, count: capacity)
    }

    deinit { values.deallocate() }
}
