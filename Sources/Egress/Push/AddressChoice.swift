/// Which of an output's two addresses is tried, and when the other one's turn comes: rules alone.
///
/// An address that had the stream and lost it makes room at once, for every second counts then; one that never took it
/// is tried a few times. The spare stays in use until it fails in its turn, for every change is a break in what the
/// target's audience sees. One that is known to be out of reach is no better than the address that failed.
struct AddressChoice: Sendable {
    private(set) var isOnSpare = false
    /// The spare was looked at, and cannot be had.
    var isSpareOut = false
    private let hasSpare: Bool
    private let limit: Int
    /// Failures in a row at the present address.
    private var failures = 0
    /// Changes since a connection last held.
    private var changes = 0
    /// A stream was lost, and neither address has taken it again.
    private var isOffAir = false
    /// There is no hope for the other address.
    private var isOtherHopeless = false

    /// - Parameter limit: Failures in a row at one address before the other one's turn.
    init(hasSpare: Bool, limit: Int) {
        self.hasSpare = hasSpare
        self.limit = limit
    }

    /// What a failure leads to.
    enum Turn: Sendable, Equatable {
        case stays
        /// The other address is next, at once if it was not tried since a connection held.
        case changes(isFirst: Bool)
    }

    /// The present address took the stream and is not hopeless any more, nor is the other one known to be.
    mutating func accepted() {
        isOtherHopeless = false
        isOffAir = false
        if isOnSpare { isSpareOut = false }
    }

    /// A connection held for long.
    mutating func held() {
        failures = 0
        changes = 0
    }

    /// The present address had the stream and lost it; its failure is taken in next.
    mutating func lost() {
        isOffAir = true
    }

    /// Takes in a failure.
    ///
    /// - Parameter isHopeless: Trying this address again soon cannot help; false when the other one has not been found
    ///   to be so.
    mutating func failed(isHopeless: inout Bool) -> Turn {
        guard hasSpare else { return .stays }
        failures += 1
        let limit = isOffAir && (isOnSpare || !isSpareOut) ? 1 : limit
        guard isHopeless || failures >= limit else { return .stays }
        isOnSpare.toggle()
        failures = 0
        changes += 1
        (isHopeless, isOtherHopeless) = (isHopeless && isOtherHopeless, isHopeless)
        return .changes(isFirst: changes == 1)
    }
}
