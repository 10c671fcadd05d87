/// Who of a room's hosts is shown, who in the large tile, and who gives way.
///
/// A host without a tile waits. Only who has the floor, is pinned or shares a screen takes a tile away from somebody: from
/// whoever ranks lowest of those who are visible. A tile that is free goes to whoever spoke last of those who wait, or
/// else to whoever has waited longest.
struct LayoutCast {
    /// In join order.
    let hosts: [LayoutHost]
    let settings: LayoutSettings
    /// The pinned ones, the newest pin first.
    let pinned: [LayoutHost]
    private let cameIntoView: [String: Int]

    /// - Parameter cameIntoView: When each sid last came into view, as far as that is known.
    init(_ hosts: [LayoutHost], _ settings: LayoutSettings, cameIntoView: [String: Int] = [:]) {
        self.hosts = hosts
        self.settings = settings
        self.cameIntoView = cameIntoView
        pinned = hosts.filter(\.isPinned).sorted(using: .pinned)
    }

    // MARK: The large tile

    /// A screen that takes the large tile: a pinned one, else, where screens do so by themselves, the one that is there
    /// already, that of who has the floor, or the first.
    func presenter(previous: String?) -> LayoutHost? {
        pinned.first(where: \.isScreenPinned) ?? unpinnedPresenter(previous: previous)
    }

    /// Who is the large tile where there always is one.
    ///
    /// After the screens and the pins, as the priority says, it is who has the floor, who had it last, or the first.
    ///
    /// - Parameter seats: Sids by place in the grid.
    func main(previous: String?, seats: [String]) -> LayoutHost? {
        if let share = pinned.first(where: \.isScreenPinned) { return share }
        let share = unpinnedPresenter(previous: previous)
        let chosen =
            switch settings.priority {
            case .speaker: share ?? speaker ?? pinned.first
            case .pin: pinned.first ?? share ?? speaker
            }
        return chosen ?? seats.lazy.compactMap { sid in hosts.first { $0.sid == sid } }.first ?? hosts.first
    }

    private func unpinnedPresenter(previous: String?) -> LayoutHost? {
        guard settings.autoSwitchOnScreenShare else { return nil }
        let sharing = hosts.filter(\.hasScreen)
        return sharing.first { $0.sid == previous } ?? sharing.first(where: \.isDominantSpeaker) ?? sharing.first
    }

    private var speaker: LayoutHost? {
        hosts.first(where: \.isDominantSpeaker)
            ?? hosts.filter { $0.speakingOrder != nil }.max { ($0.speakingOrder ?? 0) < ($1.speakingOrder ?? 0) }
    }

    // MARK: Everybody who is shown

    /// Who is shown, by place.
    ///
    /// - Parameters:
    ///   - candidates: Sids of who may be shown, in the order of new places.
    ///   - capacity: Places there are.
    ///   - main: Who is shown in any case.
    ///   - previous: Who was shown, by place.
    func choose(_ candidates: [String], capacity: Int, main: String?, previous: [String]) -> [String] {
        let called = calledUp(main: main).filter(candidates.contains).prefix(capacity)
        let present = previous.prefix(capacity).filter { candidates.contains($0) && !called.contains($0) }
        let staying = ranked(present).prefix(capacity - called.count)
        let waiting = candidates.filter { !called.contains($0) && !present.contains($0) }
        let free = capacity - called.count - staying.count
        let shown = Set(called).union(staying).union(queued(waiting).prefix(free))
        return StablePlaces.arrange(previous: previous, next: candidates.filter(shown.contains))
    }

    /// Gives the places of those who are shown for no other reason to the next ones in join order, round and round.
    ///
    /// - Parameters:
    ///   - places: Sids by place.
    ///   - main: Who has a place in any case.
    ///   - last: Who came last the time before, and this time.
    func turn(_ places: inout [String], main: String?, last: inout String?) {
        let called = calledUp(main: main)
        let round = hosts.map(\.sid).filter { !called.contains($0) }
        let here = round.filter(places.contains)
        guard !here.isEmpty, here.count < round.count else { return }
        let before = last.flatMap { round.firstIndex(of: $0) } ?? round.lastIndex { here.contains($0) } ?? 0
        let next = (1...here.count).map { round[(before + $0) % round.count] }
        var coming = next.filter { !here.contains($0) }.makeIterator()
        places = places.map { here.contains($0) && !next.contains($0) ? coming.next() ?? $0 : $0 }
        last = next.last
    }

    /// Moves the pinned ones to the first places; of the others only those who sat there move.
    func pinnedFirst(_ seats: [String]) -> [String] {
        let first = pinned.map(\.sid).filter(seats.contains)
        let rest = seats.filter { !first.contains($0) }
        return StablePlaces.arrange(previous: Array(seats.prefix(first.count)), next: first)
            + StablePlaces.arrange(previous: Array(seats.dropFirst(first.count)), next: rest)
    }

    /// Those who do not wait for a place, the most important first.
    private func calledUp(main: String?) -> [String] {
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

    /// The most important first: who spoke before who never did, with a picture before without, the latest to come into
    /// view first.
    private func ranked(_ sids: [String]) -> [String] {
        let chosen = hosts.filter { sids.contains($0.sid) }
        let silent = chosen.filter { $0.speakingOrder == nil }.enumerated().sorted { one, other in
            let moments = (cameIntoView[one.element.sid] ?? 0, cameIntoView[other.element.sid] ?? 0)
            return moments.0 == moments.1 ? one.offset > other.offset : moments.0 > moments.1
        }
        return (spoke(chosen) + withVideoFirst(silent.map(\.element))).map(\.sid)
    }

    /// When each came into view, now that some are shown; nil as long as everybody was.
    func cameIntoView(_ shown: [String], before: [String]) -> [String: Int]? {
        guard hosts.count > shown.count || !cameIntoView.isEmpty else { return nil }
        let present = Set(hosts.map(\.sid))
        var moments = cameIntoView.filter { present.contains($0.key) }
        let now = (moments.values.max() ?? 0) + 1
        for sid in shown where !before.contains(sid) { moments[sid] = now }
        return moments
    }

    /// Who is next: who spoke, the latest first, and then as they stand.
    private func queued(_ sids: [String]) -> [String] {
        let speakers = spoke(hosts.filter { sids.contains($0.sid) }).map(\.sid)
        return speakers + sids.filter { !speakers.contains($0) }
    }

    private func spoke(_ hosts: [LayoutHost]) -> [LayoutHost] {
        let speakers = hosts.filter { $0.speakingOrder != nil }
        return withVideoFirst(speakers.sorted { ($0.speakingOrder ?? 0) > ($1.speakingOrder ?? 0) })
    }

    private func withVideoFirst(_ hosts: [LayoutHost]) -> [LayoutHost] {
        hosts.filter(\.order.hasVideo) + hosts.filter { !$0.order.hasVideo }
    }
}
