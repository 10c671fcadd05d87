import Media

/// Decides which assets are fetched when.
///
/// Each is fetched once; one that could not be had is tried again, later each time, and one that the other side will never
/// give is left alone for long. A few are fetched at the same time.
struct AssetErrands {
    private enum State {
        case waiting(until: MonotonicTime, failures: Int)
        case fetching(failures: Int)
        case here
    }

    /// Assets of a room at most; what is wanted beyond is not fetched.
    static let most = 96
    /// Fetched at the same time.
    static let atOnce = 3
    /// Seconds before the second try, and the most it grows to.
    static let wait = (first: 1.0, most: 60.0)

    private var states: [WantedAsset: State] = [:]

    init() {}

    /// Says which assets are wanted from now on.
    mutating func want(_ wanted: Set<WantedAsset>, now: MonotonicTime) {
        for asset in states.keys where !wanted.contains(asset) { states[asset] = nil }
        for asset in wanted.sorted(by: { $0.id < $1.id }) where states[asset] == nil && states.count < Self.most {
            states[asset] = .waiting(until: now, failures: 0)
        }
    }

    /// What is to be fetched now.
    mutating func due(at now: MonotonicTime) -> [WantedAsset] {
        let running = states.values.filter { if case .fetching = $0 { true } else { false } }.count
        let due = states.compactMap { asset, state -> (WantedAsset, MonotonicTime, Int)? in
            guard case .waiting(let until, let failures) = state, until <= now else { return nil }
            return (asset, until, failures)
        }
        let chosen = due.sorted { ($0.1, $0.0.id) < ($1.1, $1.0.id) }.prefix(max(Self.atOnce - running, 0))
        for (asset, _, failures) in chosen { states[asset] = .fetching(failures: failures) }
        return chosen.map(\.0)
    }

    /// It came; returns whether it is still wanted.
    mutating func fetched(_ asset: WantedAsset) -> Bool {
        guard states[asset] != nil else { return false }
        states[asset] = .here
        return true
    }

    /// It did not come.
    ///
    /// - Parameters:
    ///   - isFinal: Another try would not help, as far as one can say.
    ///   - jitter: Random, 0 to 1.
    mutating func failed(_ asset: WantedAsset, isFinal: Bool, now: MonotonicTime, jitter: Double) {
        guard case .fetching(let failures) = states[asset] else { return }
        var wait = isFinal ? Self.wait.most : Self.wait.first
        for _ in 0..<failures where wait < Self.wait.most { wait *= 2 }
        states[asset] = .waiting(
            until: now.advanced(seconds: min(wait, Self.wait.most) * (0.8 + 0.4 * jitter)),
            failures: failures + 1
        )
    }
}
