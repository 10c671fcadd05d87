public import Stage

/// One broadcast of a show.
public struct Episode: Sendable, Hashable, Codable {
    /// What an episode is at the moment.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// Its room does not exist yet.
        case planned
        /// Its room is open: hosts and director see and hear each other, and the audience sees a slate.
        case backstage
        /// The audience sees the hosts.
        case live
        /// It is over.
        case ended
    }

    /// Why an episode ended.
    public enum EndReason: String, Sendable, Hashable, Codable, CaseIterable {
        /// An operator ended it.
        case ended
        /// No host was connected for the show's idle timeout.
        case idle
        /// Nobody opened it within half a day after its planned start.
        case missed
        /// The gateway lost its room, such as by a restore from a backup.
        case lost
    }

    /// `EP…`.
    public let id: String
    /// 1 for the first of the show.
    public let number: Int
    /// The title, which viewers read below that of the show.
    public var title: String
    /// The planned start in seconds since 1970; nil for one that an operator opens.
    public var plannedAt: Double?
    /// The time that the show's schedule gave it, in seconds since 1970; nil for one that was planned by itself.
    let slot: Double?
    /// What it is at the moment.
    public internal(set) var state = State.planned
    /// The sid of its room, by which its viewership and recordings are found; nil before it opens.
    public internal(set) var roomSID: String?
    /// The time when it opened, in seconds since 1970.
    public internal(set) var openedAt: Double?
    /// The time when it went live first, in seconds since 1970.
    public internal(set) var wentLiveAt: Double?
    /// The time of its end, in seconds since 1970.
    public internal(set) var endedAt: Double?
    /// Why it ended.
    public internal(set) var endReason: EndReason?
    /// The identities of hosts whom an operator removed from it.
    private(set) var removed: Set<String> = []
    /// When and by whom, by identity; nil in episodes of earlier versions.
    private var removals: [String: Removal]?
    /// What happened in it; nil before anything did, and in episodes of earlier versions.
    var recordedMoments: [Moment]?

    init(number: Int, title: String, plannedAt: Double?, slot: Double?) {
        id = StageIdentifier.make("EP")
        self.number = number
        self.title = title
        self.plannedAt = plannedAt
        self.slot = slot
    }

    /// The removal of a host; nil for one who may connect.
    public func removal(of identity: String) -> Removal? {
        removed.contains(identity) ? removals?[identity] ?? Removal() : nil
    }

    /// Records that a host was removed.
    mutating func remove(_ identity: String, by actor: String?, at now: Double) {
        removed.insert(identity)
        removals = removals ?? [:]
        removals?[identity] = Removal(at: now, by: actor)
    }

    /// Lets a removed host connect again.
    ///
    /// - Returns: Whether it was removed.
    mutating func readmit(_ identity: String) -> Bool {
        removals?[identity] = nil
        return removed.remove(identity) != nil
    }

    mutating func end(_ reason: EndReason, at now: Double) {
        guard state != .ended else { return }
        state = .ended
        endedAt = now
        endReason = reason
    }
}

extension Episode {
    /// The removal of a host by an operator, which lasts to the end of the episode.
    public struct Removal: Sendable, Hashable, Codable {
        /// Seconds since 1970; nil where it was not recorded.
        public var at: Double?
        /// The identity of who removed the host; nil where it was not recorded.
        public var by: String?
    }
}

/// What everyone may know of a show, to tell early and late viewers what to expect.
public struct ShowStatus: Sendable, Hashable {
    /// What viewers find.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// An episode will begin.
        case upcoming
        /// An episode is live.
        case live
        /// The last episode is over, and no other is planned.
        case ended
    }

    /// The title; the name where the show has none.
    public var title: String
    /// The description.
    public var description = ""
    /// The title of the episode.
    public var episodeTitle = ""
    /// What viewers find.
    public var state: State
    /// The planned start of the upcoming episode in seconds since 1970; nil if no time is planned.
    public var startsAt: Double?
    /// The end of the last episode in seconds since 1970.
    public var endedAt: Double?
    /// The time zone of the show.
    public var timeZone = "UTC"
    /// Whether the show has a poster.
    public var hasPoster = false
}

// Errors of shows and episodes.

extension StageError {
    /// 53420: the show does not exist.
    public static let showNotFound = StageError(
        code: 53420,
        name: "ShowNotFoundError",
        message: "There is no such show",
        cause: "No show has this name, or it was deleted",
        solution: "List the shows, and correct the name",
        status: 404
    )
    /// 53421: the episode does not exist.
    public static let episodeNotFound = StageError(
        code: 53421,
        name: "EpisodeNotFoundError",
        message: "There is no such episode",
        cause: "The show has no episode of this id, or has none that is open or planned",
        solution: "List the show's episodes, or plan one",
        status: 404
    )
    /// 53422: the episode is over.
    public static let episodeEnded = StageError(
        code: 53422,
        name: "EpisodeEndedError",
        message: "The episode has ended",
        cause: "An episode that is over does not change, and does not begin again",
        solution: "Plan another episode",
        status: 409
    )
    /// 53423: another episode is open.
    public static let episodeOpen = StageError(
        code: 53423,
        name: "EpisodeOpenError",
        message: "An episode of this show is open",
        cause: "The episodes of a show take place one after the other",
        solution: "End the episode that is open first",
        status: 409
    )
    /// 53424: too many planned episodes.
    public static let tooManyEpisodes = StageError(
        code: 53424,
        name: "TooManyEpisodesError",
        message: "The show has \(Show.plannedEpisodes) planned episodes",
        cause: "That is the most",
        solution: "Delete a planned episode, or wait for one to take place",
        status: 409
    )
    /// 53425: the name is in use.
    public static let showExists = StageError(
        code: 53425,
        name: "ShowExistsError",
        message: "The name is in use",
        cause: "There is a show or an open room of this name",
        solution: "Choose another name, or end the room",
        status: 409
    )
    /// 53426: too many shows.
    public static let tooManyShows = StageError(
        code: 53426,
        name: "TooManyShowsError",
        message: "The gateway has \(ShowDirectory.mostShows) shows",
        cause: "That is the most",
        solution: "Delete a show",
        status: 409
    )
    /// 53427: the seat does not exist.
    public static let seatNotFound = StageError(
        code: 53427,
        name: "SeatNotFoundError",
        message: "There is no such seat",
        cause: "The show has no seat for this identity",
        solution: "List the show's seats, or make one",
        status: 404
    )
    /// 53428: the seat exists.
    public static let seatExists = StageError(
        code: 53428,
        name: "SeatExistsError",
        message: "There is a seat for this host",
        cause: "A show has one seat for each identity",
        solution: "Use the seat that there is; a new key can be made for it",
        status: 409
    )
    /// 53429: the show cannot be stored.
    public static let showNotStored = StageError(
        code: 53429,
        name: "ShowNotStoredError",
        message: "The show could not be stored",
        cause: "The data folder cannot be written",
        solution: "Look at the gateway's log and the disk, and try again",
        status: 500,
        isRetryable: true
    )

    /// 53432: the scene does not exist.
    public static let sceneNotFound = StageError(
        code: 53432,
        name: "SceneNotFoundError",
        message: "There is no such scene",
        cause: "The show has no scene of this name",
        solution: "Read the show's scenes, and correct the name",
        status: 404
    )
    /// 53431: the show is being changed.
    public static let showBusy = StageError(
        code: 53431,
        name: "ShowBusyError",
        message: "The show is being changed by another request",
        cause: "A show is changed by one request at a time",
        solution: "Try again",
        status: 409,
        isRetryable: true,
        retryAfter: 1
    )

    /// 53430: a host comes when no episode is open.
    ///
    /// - Parameter when: When the next one opens, as text.
    public static func noEpisodeOpen(_ when: String) -> StageError {
        StageError(
            code: 53430,
            name: "NoEpisodeOpenError",
            message: "No episode of this show is open; \(when)",
            cause: "A host connects while an episode is open",
            solution: "Connect then, or ask the director to open the episode",
            status: 409,
            isRetryable: true,
            retryAfter: 60
        )
    }
}
