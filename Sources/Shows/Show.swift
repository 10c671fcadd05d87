public import Foundation
public import Stage

/// A show: what stays from one episode to the next.
///
/// Its episodes take place one after the other in rooms that have the show's name, so that all addresses of viewers stay
/// the same.
public struct Show: Sendable, Equatable, Codable {
    /// The beginning of each id.
    public static let identifierPrefix = "SH"
    /// The most ended episodes that are remembered; the oldest are forgotten first.
    public static let endedEpisodesKept = 500
    /// The most episodes that are planned at a time.
    public static let plannedEpisodes = 100

    /// `SH…`.
    public let id: String
    /// What the operator chose.
    public var settings: ShowSettings
    /// The hosts' seats, in the order in which they were made.
    public var seats: [Seat]
    /// The episodes by number, which rises.
    public internal(set) var episodes: [Episode] = []
    /// Seconds since 1970.
    public let createdAt: Double
    /// Seconds since 1970.
    public var updatedAt: Double
    /// The number of the last episode that was planned, also of one that is gone.
    var lastNumber = 0

    /// The name in addresses.
    public var name: String { settings.room.name }

    /// Creates a show without episodes.
    init(_ settings: ShowSettings, seats: [Seat], at now: Double) {
        id = StageIdentifier.make(Self.identifierPrefix)
        self.settings = settings
        self.seats = seats
        createdAt = now
        updatedAt = now
    }

    /// The episode whose room is open; nil if there is none.
    public var current: Episode? { episodes.last { $0.state == .backstage || $0.state == .live } }

    /// The planned episode that comes first; one without a time comes last.
    public var next: Episode? {
        episodes.filter { $0.state == .planned }
            .min { ($0.plannedAt ?? .infinity, $0.number) < ($1.plannedAt ?? .infinity, $1.number) }
    }

    /// The episode that ended last; nil before the first.
    public var last: Episode? {
        episodes.filter { $0.state == .ended && $0.roomSID != nil }.max { $0.number < $1.number }
    }

    /// The sid of the room whose recordings everyone may watch: that of the last live episode, unless one is live or the
    /// show is private.
    public var replayedRoom: String? {
        guard settings.hasReplay == true, settings.room.audienceAccess.isUnrestricted, current?.state != .live else {
            return nil
        }
        return episodes.filter { $0.state == .ended && $0.wentLiveAt != nil }.max { $0.number < $1.number }?.roomSID
    }

    func index(ofEpisode id: String) -> Int? {
        episodes.firstIndex { $0.id == id }
    }

    /// Plans an episode.
    ///
    /// - Throws: 53424 at the most of planned ones.
    @discardableResult
    mutating func plan(title: String, at plannedAt: Double?, slot: Double? = nil) throws(StageError) -> Episode {
        guard episodes.count(where: { $0.state == .planned }) < Self.plannedEpisodes else { throw .tooManyEpisodes }
        lastNumber += 1
        let episode = Episode(
            number: lastNumber,
            title: title,
            plannedAt: plannedAt,
            slot: slot
        )
        episodes.append(episode)
        return episode
    }

    /// Plans the next episode of the schedule, unless one is planned already.
    ///
    /// A slot is over once its episode was live, was missed, or ended in the time in which its hosts may come; one that
    /// was opened long before, to rehearse, takes place still. A slot at which another episode is planned is skipped.
    ///
    /// - Returns: Whether it changed anything.
    mutating func followSchedule(at now: Double) -> Bool {
        guard let schedule = settings.schedule, let zone = settings.zone else { return false }
        guard !episodes.contains(where: { $0.slot != nil && $0.state == .planned }) else { return false }
        var after = max(now, episodes.filter(isOver).compactMap(\.slot).max() ?? 0)
        for _ in 0...Self.plannedEpisodes {
            guard let time = schedule.next(after: after, in: zone) else { return false }
            if !episodes.contains(where: { $0.state == .planned && $0.plannedAt == time }) {
                return (try? plan(title: "", at: time, slot: time)) != nil
            }
            after = time
        }
        return false
    }

    /// Whether the slot of an episode is over, or taken by it.
    private func isOver(_ episode: Episode) -> Bool {
        guard let slot = episode.slot, episode.state == .ended, episode.wentLiveAt == nil else { return true }
        return (episode.endedAt ?? 0) >= slot - Double(settings.opensBefore)
    }

    /// Ends an episode; its slot takes place still if it was opened to rehearse.
    mutating func endEpisode(at index: Int, because reason: Episode.EndReason, at now: Double) {
        guard episodes[index].state != .ended else { return }
        episodes[index].end(reason, at: now)
        updatedAt = now
        let episode = episodes[index]
        if let slot = episode.slot, !isOver(episode) {
            // What was planned in its place, unless an operator has moved it.
            episodes.removeAll { $0.state == .planned && $0.slot ?? 0 > slot && $0.plannedAt == $0.slot }
            _ = followSchedule(at: now)
        }
        trim()
    }

    /// Plans the slot after that of an episode which does not take place.
    mutating func skip(_ episode: Episode, at now: Double) throws(StageError) {
        guard let slot = episode.slot, let zone = settings.zone,
            let time = settings.schedule?.next(after: max(now, slot), in: zone)
        else { return }
        try plan(title: "", at: time, slot: time)
    }

    /// Returns the show with what happened to its episodes since a request to change it was begun.
    ///
    /// - Parameters:
    ///   - present: The show as it is.
    ///   - before: The show as it was when the request began.
    func merged(with present: Show, since before: Show) -> Show {
        var show = self
        let former = Dictionary(before.episodes.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        for episode in present.episodes where former[episode.id] != episode {
            if let index = show.index(ofEpisode: episode.id) {
                show.episodes[index] = episode
            } else {
                show.episodes.append(episode)
            }
        }
        show.episodes.sort { $0.number < $1.number }
        show.lastNumber = max(show.lastNumber, present.lastNumber)
        return show
    }

    /// Forgets the oldest ended episodes beyond the most that are kept.
    mutating func trim() {
        var surplus = episodes.count(where: { $0.state == .ended }) - Self.endedEpisodesKept
        guard surplus > 0 else { return }
        episodes.removeAll { episode in
            guard surplus > 0, episode.state == .ended else { return false }
            surplus -= 1
            return true
        }
    }
}

/// What an operator chooses for a show.
public struct ShowSettings: Sendable, Equatable, Codable {
    /// The title that viewers read, at most 200 bytes; the name is shown where it is empty.
    public var title = ""
    /// The description that viewers read, at most 4,000 bytes.
    public var description = ""
    /// The asset of the show that is shown to viewers who come early; nil for none.
    public var poster: String?
    /// The time zone of the schedule, such as `Europe/Berlin`.
    public var timeZone = "UTC"
    /// When episodes take place; nil for those that are planned one by one.
    public var schedule: ShowSchedule?
    /// Seconds before its planned start at which an episode opens for its hosts, 0 to 604,800.
    public var opensBefore = 3600
    /// Whether an episode goes live by itself at its planned start; otherwise the operator lets it.
    public var startsByItself = false
    /// Seconds without a connected host after which an episode ends, 60 to 604,800.
    public var idleTimeout = 3600
    /// The settings of each episode's room; its name is that of the show.
    public var room: RoomSettings
    /// The outputs with their stream keys, which start when an episode goes live.
    public var outputs: LivestreamPlan?
    /// Whether what is live is recorded.
    public var isRecorded = false
    /// Whether everyone may watch the recordings of the last episode; nil for not.
    public var hasReplay: Bool?
    /// The scenes in the order of the show, each name once; nil for none.
    public var scenes: [ShowScene]?

    /// The most scenes of a show.
    public static let mostScenes = 50

    /// Creates settings with the defaults.
    public init(room: RoomSettings) {
        self.room = room
    }

    /// The time zone.
    public var zone: TimeZone? { TimeZone(identifier: timeZone) }

    /// Checks every value.
    ///
    /// - Throws: 53100 to 53102 for the name, 3073 naming any other field.
    public func validate() throws(StageError) {
        try room.validate()
        guard title.utf8.count <= 200 else { throw .invalidParameter("title", "must have at most 200 bytes") }
        guard description.utf8.count <= 4000 else {
            throw .invalidParameter("description", "must have at most 4000 bytes")
        }
        if let poster, NameRule.checkFile(poster) != nil {
            throw .invalidParameter("poster", "must be the name of an asset of the show")
        }
        guard timeZone.utf8.count <= 64, zone != nil else {
            throw .invalidParameter("time_zone", "must be a name of the time zone database, such as Europe/Berlin")
        }
        try schedule?.validate()
        try StageError.check(opensBefore, in: 0...604_800, field: "opens_before")
        try StageError.check(idleTimeout, in: 60...604_800, field: "idle_timeout")
        let scenes = scenes ?? []
        guard scenes.count <= Self.mostScenes else {
            throw .invalidParameter("scenes", "must be at most \(Self.mostScenes)")
        }
        guard Set(scenes.map(\.name)).count == scenes.count else {
            throw .invalidParameter("scenes", "must have different names")
        }
        for (index, scene) in scenes.enumerated() { try scene.validate(path: "scenes[\(index)].") }
    }

    /// The settings of an episode's room: backstage, and without timeouts of its own, for the show decides.
    var episodeRoom: RoomSettings {
        var settings = room
        settings.backstage = true
        settings.emptyTimeout = RoomSettings.longestTimeout
        settings.unusedTimeout = RoomSettings.longestTimeout
        settings.isRecorded = nil
        return settings
    }
}

/// A layout with a name, which a director puts on air in one step.
public struct ShowScene: Sendable, Hashable, Codable {
    /// The name, 1 to 100 bytes.
    public var name: String
    /// The layout; its slates are not used, because those belong to the show.
    public var layout: LayoutSettings

    /// Creates a scene.
    public init(name: String, layout: LayoutSettings) {
        self.name = name
        self.layout = layout
    }

    fileprivate func validate(path: String) throws(StageError) {
        guard (1...100).contains(name.utf8.count) else {
            throw .invalidParameter(path + "name", "must have 1 to 100 bytes")
        }
        try layout.validate(path: path + "layout.")
    }

    /// Puts this scene in place of a layout, whose slates stay.
    func replace(_ present: inout LayoutSettings) {
        let slates = present.slates
        let operatorAddresses = present.operatorAddresses.union(layout.operatorAddresses)
        present = layout
        present.slates = slates
        present.operatorAddresses = operatorAddresses.intersection(present.addresses)
    }
}

/// A host's place in every episode of a show.
public struct Seat: Sendable, Hashable, Codable {
    /// The host's identity.
    public let identity: String
    /// The name on the tile; the identity if nil.
    public var displayName: String?
    /// The key that its encoder publishes with, in every episode.
    public internal(set) var streamKey: String
    /// The time when the key was made, in seconds since 1970.
    public internal(set) var keyMadeAt: Double

    init(identity: String, displayName: String?, at now: Double) {
        self.identity = identity
        self.displayName = displayName
        streamKey = StreamKey().text
        keyMadeAt = now
    }

    /// The keys for the host's encoder.
    public var credentials: HostCredentials { HostCredentials(streamKey: streamKey) }

    /// The request by which the host joins an episode.
    var joinRequest: JoinRequest {
        JoinRequest(identity: identity, displayName: displayName, mode: .sendAndReceive)
    }
}

/// The days and the time of a show's episodes.
public struct ShowSchedule: Sendable, Hashable, Codable {
    /// A day of the week.
    public enum Weekday: String, Sendable, Hashable, Codable, CaseIterable {
        case sunday
        case monday
        case tuesday
        case wednesday
        case thursday
        case friday
        case saturday
    }

    /// The days, at least one.
    public var weekdays: Set<Weekday>
    /// The time of day in the show's time zone, `HH:MM`.
    public var time: String

    /// Creates a schedule.
    public init(weekdays: Set<Weekday>, time: String) {
        self.weekdays = weekdays
        self.time = time
    }

    private var clock: (hour: Int, minute: Int)? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCII) }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        return (hour, minute)
    }

    func validate() throws(StageError) {
        guard !weekdays.isEmpty else { throw .invalidParameter("schedule.weekdays", "must name at least one day") }
        guard clock != nil else { throw .invalidParameter("schedule.time", "must be a time of day such as 19:00") }
    }

    /// Returns the first time after `moment`, in seconds since 1970.
    ///
    /// A time that a change of the clocks skips is the first one after it; of one that it repeats, the first counts.
    func next(after moment: Double, in zone: TimeZone) -> Double? {
        guard let clock else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let dates = weekdays.compactMap { day -> Date? in
            guard let number = Weekday.allCases.firstIndex(of: day) else { return nil }
            var wanted = DateComponents(hour: clock.hour, minute: clock.minute, second: 0)
            wanted.weekday = number + 1
            return calendar.nextDate(
                after: Date(timeIntervalSince1970: moment),
                matching: wanted,
                matchingPolicy: .nextTime
            )
        }
        return dates.min()?.timeIntervalSince1970
    }
}
