import Media

/// What every viewer of a crowd does with each part of the program.
enum HLSWorkload: String, CaseIterable {
    /// Fetches the newest part.
    case parts
    /// Fetches the media playlist as it stands.
    case playlists
    /// Waits for the next playlist and fetches the part that is new in it; from a server of files both at once.
    case lowLatency = "low latency"

    /// The steps of the viewers of a gateway.
    ///
    /// - Parameters:
    ///   - playlists: Where each viewer finds its own playlist.
    ///   - period: Milliseconds of a part.
    func steps(
        _ scout: PlaylistScout,
        playlists: [String],
        period: Int64
    ) -> @Sendable (Int, Int, MonotonicTime) -> RequestCrowd.Step {
        let start = MonotonicTime.now()
        return { [self] viewer, turn, now in
            guard let news = scout.news else { return .rest }
            if self != .lowLatency || turn == 0 {
                guard now >= Self.due(viewer, turn, of: playlists.count, every: period, since: start) else {
                    return .rest
                }
            }
            switch self {
            case .parts: return .ask(HTTPExchange.request(news.partPath))
            case .playlists: return .ask(HTTPExchange.request(playlists[viewer]))
            case .lowLatency:
                // Whoever has a part waits for the next one.
                let path = turn % 2 == 0 ? playlists[viewer] + news.nextDirectives : news.partPath
                return .ask(HTTPExchange.request(path))
            }
        }
    }

    /// The steps of the viewers of a server of files.
    ///
    /// - Parameter period: Milliseconds of a part.
    func steps(size: Int, period: Int64) -> @Sendable (Int, Int, MonotonicTime) -> RequestCrowd.Step {
        let start = MonotonicTime.now()
        let (part, playlist) = (HTTPExchange.request("/part.m4s"), HTTPExchange.request("/media.m3u8"))
        return { [self] viewer, turn, now in
            let round = self == .lowLatency ? turn / 2 : turn
            guard now >= Self.due(viewer, round, of: size, every: period, since: start) else { return .rest }
            switch self {
            case .parts: return .ask(part)
            case .playlists: return .ask(playlist)
            case .lowLatency: return .ask(turn % 2 == 0 ? playlist : part)
            }
        }
    }

    /// Viewers come evenly over a period.
    private static func due(
        _ viewer: Int,
        _ round: Int,
        of size: Int,
        every period: Int64,
        since start: MonotonicTime
    ) -> MonotonicTime {
        start.advanced(milliseconds: period * Int64(round) + period * Int64(viewer) / Int64(max(size, 1)))
    }
}
