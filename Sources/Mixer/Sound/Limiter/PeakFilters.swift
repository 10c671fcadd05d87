/// The taps of the true-peak filters, each eight times over so that a load is all it takes to use one; one owner.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct PeakFilters: ~Copyable, @unchecked Sendable {
    /// Half the sum of the quarter's taps that lie opposite each other: what both it and the three quarters have.
    let even: UnsafeMutablePointer<SIMD8<Float>>
    /// Half their difference: what one has and the other has with the sign turned.
    let odd: UnsafeMutablePointer<SIMD8<Float>>
    /// The taps of the half, which are the same from either end.
    let half: UnsafeMutablePointer<SIMD8<Float>>

    /// - Parameter tap: Gives a tap of the filter for a fraction of a sample.
    init(pairs: Int, tap: (_ index: Int, _ fraction: Double) -> Float) {
        even = .allocate(capacity: pairs)
        odd = .allocate(capacity: pairs)
        half = .allocate(capacity: pairs)
        for pair in 0..<pairs {
            let (early, late) = (tap(pair, 0.25), tap(2 * pairs - 1 - pair, 0.25))
            (even + pair).initialize(to: SIMD8(repeating: (early + late) / 2))
            (odd + pair).initialize(to: SIMD8(repeating: (early - late) / 2))
            (half + pair).initialize(to: SIMD8(repeating: tap(pair, 0.5)))
        }
    }

    deinit {
        even.deallocate()
        odd.deallocate()
        half.deallocate()
    }
}
