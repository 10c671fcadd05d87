/// Selects the hosts on air, the host in the large tile, and the hosts that lose their tiles.
///
/// Only the dominant speaker, a pinned host or a screen share takes another host's tile: that of the lowest-ranking
/// visible host. A free tile goes to the hidden host who spoke last, or else to the one that has waited longest.
struct LayoutHosts {
    /// In join order, or the one that somebody set.
    let hosts: [LayoutHost]
    /// Whether positions follow the order of the hosts.
    let isOrdered: Bool
    let settings: LayoutSettings
    /// The pinned hosts, the newest pin first.
    let pinned: [LayoutHost]
    private let cameIntoView: [String: Int]

    /// - Parameter cameIntoView: The order in which sids became visible, as far as known.
    init(
        _ hosts: [LayoutHost],
        _ settings: LayoutSettings,
        isOrdered: Bool = false,
        cameIntoView: [String: Int] = [:]
    ) {
        self.hosts = hosts
        self.isOrdered = isOrdered
        self.settings = settings
        self.cameIntoView = cameIntoView
        pinned = hosts.filter(\.isPinned).sorted(using: .pinned)
    }

    // MARK: The large tile

    /// Returns the host whose screen takes the large tile: a pinned one, else, with automatic switching, the current
    /// one, that of the dominant speaker, or the first.
    func presenter(previous: String?) -> LayoutHost? {
        pinned.first(where: \.isScreenPinned) ?? automaticPresenter(previous: previous)
    }

    /// Returns the host in the large tile of layouts that always have one.
    ///
    /// Screens and pins come first by priority, then the dominant speaker, the previous one, or the first host.
    ///
    /// - Parameter seats: Sids by grid position.
    func main(previous: String?, seats: [String]) -> LayoutHost? {
        if let share = pinned.first(where: \.isScreenPinned) { return share }
        let share = automaticPresenter(previous: previous)
        let chosen =
            switch settings.priority {
            case .speaker: share ?? speaker ?? pinned.first
            case .pin: pinned.first ?? share ?? speaker
            }
        return chosen ?? seats.lazy.compactMap { sid in hosts.first { $0.sid == sid } }.first ?? hosts.first
    }

    private func automaticPresenter(previous: String?) -> LayoutHost? {
        guard settings.autoSwitchOnScreenShare else { return nil }
        let sharing = hosts.filter(\.hasScreen)
        return sharing.first { $0.sid == previous } ?? sharing.first(where: \.isDominantSpeaker) ?? sharing.first
    }

    private var speaker: LayoutHost? {
        hosts.first(where: \.isDominantSpeaker)
            ?? hosts.filter { $0.speakingOrder != nil }.max { ($0.speakingOrder ?? 0) < ($1.speakingOrder ?? 0) }
    }

    // MARK: Visible hosts

    /// Returns the visible sids by position.
    ///
    /// - Parameters:
    ///   - candidates: The sids that may be visible, in the order of new positions.
    ///   - capacity: The number of positions.
    ///   - main: A sid that is always visible.
    ///   - previous: The previously visible sids by position.
    func selectVisible(_ candidates: [String], capacity: Int, main: String?, previous: [String]) -> [String] {
        let prioritized = prioritySIDs(main: main).filter(candidates.contains).prefix(capacity)
        let present = previous.prefix(capacity).filter { candidates.contains($0) && !prioritized.contains($0) }
        let staying = ranked(present).prefix(capacity - prioritized.count)
        let waiting = candidates.filter { !prioritized.contains($0) && !present.contains($0) }
        let free = capacity - prioritized.count - staying.count
        let shown = Set(prioritized).union(staying).union(waitingOrder(waiting).prefix(free))
        return arrange(previous: previous, next: candidates.filter(shown.contains))
    }

    /// Returns the elements of `next` by position: in the order of the hosts if that was set, or with as few moves as
    /// possible.
    func arrange(previous: [String], next: [String]) -> [String] {
        guard isOrdered else { return StablePositions.arrange(previous: previous, next: next) }
        return hosts.map(\.sid).filter(Set(next).contains)
    }

    /// Rotates the positions of hosts without priority through the hosts in their order.
    ///
    /// - Parameters:
    ///   - placements: Sids by position.
    ///   - main: A sid that keeps its position.
    ///   - last: The last sid that rotated in; updated.
    func rotate(_ placements: inout [String], main: String?, last: inout String?) {
        let prioritized = prioritySIDs(main: main)
        let round = hosts.map(\.sid).filter { !prioritized.contains($0) }
        let here = round.filter(placements.contains)
        guard !here.isEmpty, here.count < round.count else { return }
        let before = last.flatMap { round.firstIndex(of: $0) } ?? round.lastIndex { here.contains($0) } ?? 0
        let next = (1...here.count).map { round[(before + $0) % round.count] }
        var coming = next.filter { !here.contains($0) }.makeIterator()
        placements = placements.map { here.contains($0) && !next.contains($0) ? coming.next() ?? $0 : $0 }
        placements = arrange(previous: placements, next: placements)
        last = next.last
    }

    /// Moves the pinned hosts to the first positions; only the hosts there move.
    func pinnedFirst(_ seats: [String]) -> [String] {
        let first = pinned.map(\.sid).filter(seats.contains)
        let rest = seats.filter { !first.contains($0) }
        return arrange(previous: Array(seats.prefix(first.count)), next: first)
            + arrange(previous: Array(seats.dropFirst(first.count)), next: rest)
    }

    /// The sids that are visible with priority, the most important first.
    private func prioritySIDs(main: String?) -> [String] {
        let pins = pinned.map(\.sid)
        let shares = hosts.filter(\.hasScreen).map(\.sid)
        let speaking = hosts.filter(\.isDominantSpeaker).map(\.sid)
        let all =
            switch settings.priority {
            case .speaker: speaking + pins + shares
            case .pin: pins + shares + speaking
            }
        var seen: Set<String> = []
        return ([main].compactMap(\.self) + all).filter { seen.insert($0).inserted }
    }

    /// Ranks sids: speakers before others, with video before without, the latest to become visible first.
    private func ranked(_ sids: [String]) -> [String] {
        let chosen = hosts.filter { sids.contains($0.sid) }
        let silent = chosen.filter { $0.speakingOrder == nil }.enumerated().sorted { one, other in
            let moments = (cameIntoView[one.element.sid] ?? 0, cameIntoView[other.element.sid] ?? 0)
            return moments.0 == moments.1 ? one.offset > other.offset : moments.0 > moments.1
        }
        return (recentSpeakers(chosen) + withVideoFirst(silent.map(\.element))).map(\.sid)
    }

    /// Returns the order in which sids became visible; nil as long as all were.
    func cameIntoView(_ shown: [String], before: [String]) -> [String: Int]? {
        guard hosts.count > shown.count || !cameIntoView.isEmpty else { return nil }
        let present = Set(hosts.map(\.sid))
        var moments = cameIntoView.filter { present.contains($0.key) }
        let now = (moments.values.max() ?? 0) + 1
        for sid in shown where !before.contains(sid) { moments[sid] = now }
        return moments
    }

    /// Returns hidden hosts in the order of their turn: speakers first, the latest before earlier ones.
    private func waitingOrder(_ sids: [String]) -> [String] {
        let speakers = recentSpeakers(hosts.filter { sids.contains($0.sid) }).map(\.sid)
        return speakers + sids.filter { !speakers.contains($0) }
    }

    private func recentSpeakers(_ hosts: [LayoutHost]) -> [LayoutHost] {
        let speakers = hosts.filter { $0.speakingOrder != nil }
        return withVideoFirst(speakers.sorted { ($0.speakingOrder ?? 0) > ($1.speakingOrder ?? 0) })
    }

    private func withVideoFirst(_ hosts: [LayoutHost]) -> [LayoutHost] {
        hosts.filter(\.order.hasVideo) + hosts.filter { !$0.order.hasVideo }
    }
}

/// Assigns the members of a new list to positions so that as few as possible move.
public enum StablePositions {
    /// Returns the elements of `next`, rearranged: each that `previous` also contains keeps its index if the new list
    /// has it; the free indices are filled with the others in the order of `next`.
    ///
    /// - Parameters:
    ///   - previous: The previous order.
    ///   - next: The new members, the most important first; without duplicates.
    public static func arrange<Element: Hashable>(previous: [Element], next: [Element]) -> [Element] {
        let retained = min(previous.count, next.count)
        let members = Set(next)
        var places = [Element?](repeating: nil, count: next.count)
        var placed = Set<Element>()
        for index in 0..<retained where members.contains(previous[index]) {
            places[index] = previous[index]
            placed.insert(previous[index])
        }
        var others = next.lazy.filter { !placed.contains($0) }.makeIterator()
        return places.compactMap { $0 ?? others.next() }
    }
}
