public import Foundation
public import Stage
import Synchronization

/// Stores shows across restarts.
public protocol ShowStoring: Sendable {
    /// Writes a show, and returns when it is on disk.
    ///
    /// - Parameters:
    ///   - read: Returns the show at the time of writing, so that the latest of several changes counts; nil to delete
    ///     it.
    ///   - all: Returns all shows, for a store that lost them.
    func save(
        _ id: String,
        _ read: @escaping @Sendable () -> Show?,
        all: @escaping @Sendable () -> [Show]
    ) async throws
}

/// The owner of all shows: plans their episodes, opens and ends them, and admits their hosts.
///
/// An episode takes place in a room of the `RoomDirectory`, which holds the rules of a room. This class follows the
/// rooms by their events, so that an episode goes live and ends by whatever way its room does.
///
/// Calls come from any thread and return at once, but for those that are `async`, which wait for the disk. The lock is
/// never held during a call of another component.
public final class ShowDirectory: Sendable {
    /// The most shows.
    public static let mostShows = 1000
    /// The most seats of a show.
    public static let mostSeats = 50
    /// Seconds after its planned start at which an episode that nobody opened is missed.
    static let missedAfter = 43_200.0

    /// Starts what belongs to a live episode.
    public struct Effects: Sendable {
        /// Checks outputs before they are saved.
        let checkOutputs: @Sendable ([OutputTarget]) throws(StageError) -> Void
        /// Starts the outputs of a room.
        let startOutputs: @Sendable (_ room: String, LivestreamPlan) throws(StageError) -> Void
        /// Starts the recording of a room.
        let startRecording: @Sendable (_ room: RoomView) throws(StageError) -> Void
        /// Writes a message about a show to the log.
        let log: @Sendable (_ message: String, _ show: String) -> Void

        /// Creates effects.
        public init(
            checkOutputs: @escaping @Sendable ([OutputTarget]) throws(StageError) -> Void = { _ in },
            startOutputs: @escaping @Sendable (_ room: String, LivestreamPlan) throws(StageError) -> Void,
            startRecording: @escaping @Sendable (_ room: RoomView) throws(StageError) -> Void,
            log: @escaping @Sendable (_ message: String, _ show: String) -> Void
        ) {
            self.checkOutputs = checkOutputs
            self.startOutputs = startOutputs
            self.startRecording = startRecording
            self.log = log
        }
    }

    fileprivate struct State {
        /// By name.
        var shows: [String: Show] = [:]
        /// The show and the identity of each stream key, by the key's name.
        var seats: [String: (show: String, identity: String)] = [:]
        /// The show of each open room, by the room's sid.
        var rooms: [String: String] = [:]
        /// The shows whose episode is being opened.
        var opening: Set<String> = []
        /// The shows that are being changed, which one request at a time may do; true if one changed meanwhile by itself.
        var changing: [String: Bool] = [:]
        /// When a host was last connected to an open room, in seconds since 1970, by the room's sid.
        var lastActive: [String: Double] = [:]
    }

    private let stage: RoomDirectory
    private let store: any ShowStoring
    private let effects: Effects
    private let date: @Sendable () -> Double
    private let state = Mutex(State())
    /// Locked while a seat's host joins; the observer does not need it.
    private let joining = Mutex(())
    private let observation = Mutex<StageObservation?>(nil)

    /// Creates a directory with the stored shows; call it before the rooms are restored, and `resume` after.
    ///
    /// - Parameter date: Returns the seconds since 1970.
    public init(
        stage: RoomDirectory,
        shows: [Show] = [],
        store: any ShowStoring,
        effects: Effects,
        date: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
    ) {
        self.stage = stage
        self.store = store
        self.effects = effects
        self.date = date
        state.withLock { state in
            for show in shows { state.insert(show) }
        }
        for show in shows { stage.reserve(show.name) }
        let following = stage.observe { [weak self] event in self?.follow(event) }
        observation.withLock { $0 = following }
    }

    /// Goes on after a restart: ends episodes whose rooms did not come back, and rooms whose episodes have ended; records
    /// what is live.
    ///
    /// Call it once, after the rooms are restored. The outputs go on by themselves.
    public func resume() {
        let now = date()
        for show in shows {
            let open = show.current
            let room = open?.roomSID.flatMap { try? stage.room($0) }.flatMap { $0.status == .inProgress ? $0 : nil }
            if let open, let sid = open.roomSID, room == nil {
                state.withLock { $0.end(room: sid, of: show.name, because: .lost, at: now) }
                saveLater(show.name)
            }
            // The name is the show's, so that only a former episode can have left a room.
            if let left = try? stage.summary(of: show.name), left.status == .inProgress, left.sid != room?.sid {
                effects.log("a room without an episode ends", show.name)
                try? stage.end(room: left.sid)
            }
            guard let open, let room else { continue }
            if open.state == .live, !room.isBackstage {
                if show.settings.isRecorded { startRecording(of: room) }
            } else {
                reconcile(room, of: show.name, at: now)
            }
        }
    }

    // MARK: Shows

    /// All shows, by name.
    public var shows: [Show] { state.withLock { $0.shows.values.sorted { $0.name < $1.name } } }

    /// Returns a show by name or id.
    ///
    /// - Throws: 53420.
    public func show(_ reference: String) throws(StageError) -> Show {
        try state.withLock { (state) throws(StageError) in try state.show(reference) }
    }

    /// Creates a show, and plans its first episode if it has a schedule.
    ///
    /// - Throws: 53425 when the name is in use, 53426, 53429, or 3073 naming a field.
    public func create(
        _ settings: ShowSettings,
        seats: [(identity: String, displayName: String?)]
    ) async throws(StageError) -> Show {
        try settings.validate()
        try effects.checkOutputs(settings.outputs?.targets ?? [])
        let now = date()
        var show = Show(settings, seats: [], at: now)
        for seat in seats { try show.addSeat(seat.identity, displayName: seat.displayName, at: now) }
        _ = show.followSchedule(at: now)
        let made = show
        guard stage.reserve(made.name) else { throw .showExists }
        do throws(StageError) {
            try state.withLock { (state) throws(StageError) in
                guard state.shows[made.name] == nil else { throw .showExists }
                guard state.shows.count < Self.mostShows else { throw .tooManyShows }
                state.insert(made)
            }
        } catch {
            if error.code != StageError.showExists.code { stage.release(made.name) }
            throw error
        }
        do throws(StageError) {
            try await save(made.name)
        } catch {
            state.withLock { $0.remove(made.name) }
            stage.release(made.name)
            throw error
        }
        return made
    }

    /// Changes a show's settings; those of the room are effective from the next episode on.
    ///
    /// An output that is added to a live show starts at once.
    ///
    /// - Parameters:
    ///   - output: The name of an output that starts also if the show had it before, such as one that was stopped.
    ///   - change: Called twice, so that outputs are checked first.
    /// - Throws: 53420, 53429, 53431, 4015 for an output, or 3073 naming a field, also for another name.
    public func update(
        _ reference: String,
        starting output: String? = nil,
        _ change: (inout ShowSettings) throws(StageError) -> Void
    ) async throws(StageError) -> Show {
        let former = try show(reference).settings
        var wanted = former
        try change(&wanted)
        if wanted.outputs != former.outputs { try effects.checkOutputs(wanted.outputs?.targets ?? []) }
        let show = try await self.change(reference) { (show, now) throws(StageError) in
            var settings = show.settings
            try change(&settings)
            settings.room.name = show.name
            try settings.validate()
            let isRescheduled =
                settings.schedule != show.settings.schedule || settings.timeZone != show.settings.timeZone
            show.settings = settings
            if isRescheduled {
                show.episodes.removeAll { $0.state == .planned && $0.slot != nil }
                _ = show.followSchedule(at: now)
            }
        }
        let names = Set(former.outputs?.targets.map(\.name) ?? [])
        if let episode = show.current, episode.state == .live, let sid = episode.roomSID {
            startOutputs(of: show, in: sid) { !names.contains($0.name) || $0.name == output }
        }
        return show
    }

    /// Deletes a show with its seats and the list of its episodes; their viewership and recordings stay.
    ///
    /// - Throws: 53420, 53423 while an episode is open, 53429.
    public func delete(_ reference: String) async throws(StageError) {
        let show = try state.withLock { (state) throws(StageError) in
            let show = try state.show(reference)
            guard show.current == nil, !state.opening.contains(show.name) else { throw .episodeOpen }
            guard state.changing[show.name] == nil else { throw .showBusy }
            state.remove(show.name)
            return show
        }
        do {
            try await store.save(show.id, { nil }, all: all)
        } catch {
            state.withLock { $0.insert(show) }
            throw .showNotStored
        }
        stage.release(show.name)
    }

    /// Creates a show with the settings and the seats of another; each seat has a new key, and no episode is copied.
    ///
    /// The files are not copied here.
    ///
    /// - Throws: 53420, and as `create`.
    public func copy(_ reference: String, as name: String, title: String?) async throws(StageError) -> Show {
        let original = try show(reference)
        var settings = original.settings
        settings.room.name = name
        settings.title = title ?? settings.title
        return try await create(settings, seats: original.seats.map { ($0.identity, $0.displayName) })
    }

    // MARK: Seats

    /// Makes a seat with a stream key.
    ///
    /// - Throws: 53420, 53428, 53200 to 53202 or 3073 for the names, 53429.
    public func addSeat(_ identity: String, displayName: String?, to reference: String) async throws(StageError) -> Seat
    {
        let show = try await change(reference) { (show, now) throws(StageError) in
            try show.addSeat(identity, displayName: displayName, at: now)
        }
        return try show.seat(identity)
    }

    /// Removes a seat; its host leaves the open episode.
    ///
    /// - Throws: 53420, 53427, 53429.
    public func removeSeat(_ identity: String, of reference: String) async throws(StageError) {
        let show = try await change(reference) { (show, _) throws(StageError) in
            show.seats.remove(at: try show.index(ofSeat: identity))
        }
        leave(identity, show)
    }

    /// Makes a new stream key for a seat; whoever publishes with the old one is disconnected.
    ///
    /// - Throws: 53420, 53427, 53429.
    public func renewKey(of identity: String, in reference: String) async throws(StageError) -> Seat {
        let show = try await change(reference) { (show, now) throws(StageError) in
            let index = try show.index(ofSeat: identity)
            show.seats[index].streamKey = StreamKey().text
            show.seats[index].keyMadeAt = now
        }
        leave(identity, show)
        return try show.seat(identity)
    }

    /// Lets a host whom an operator removed from the open episode connect again; nothing changes for others.
    ///
    /// - Throws: 53420, 53427.
    public func readmit(_ identity: String, to reference: String) async throws(StageError) {
        let name = try show(reference).name
        let isNew = try state.withLock { (state) throws(StageError) in
            _ = try state.show(name).seat(identity)
            return state.change(name) { show in
                guard let id = show.current?.id, let index = show.index(ofEpisode: id) else { return false }
                return show.episodes[index].readmit(identity)
            } ?? false
        }
        if isNew { await saveWhatHappened(name) }
    }

    /// Lets a host leave the open episode, which closes its connection.
    private func leave(_ identity: String, _ show: Show) {
        guard let sid = show.current?.roomSID else { return }
        // Without the host there is nothing to close.
        try? stage.leave(room: sid, participant: identity, reason: .left)
    }

    // MARK: Episodes

    /// Returns an episode by id; `current` is the open one, or the next.
    ///
    /// - Throws: 53420, 53421.
    public func episode(_ id: String, of reference: String) throws(StageError) -> (show: Show, episode: Episode) {
        let show = try show(reference)
        if id == "current" {
            guard let episode = show.current ?? show.next else { throw .episodeNotFound }
            return (show, episode)
        }
        guard let index = show.index(ofEpisode: id) else { throw .episodeNotFound }
        return (show, show.episodes[index])
    }

    /// Plans an episode.
    ///
    /// - Throws: 53420, 53424, 53429, 3073 for a start that is past or more than two years ahead.
    public func plan(_ reference: String, title: String, at plannedAt: Double?) async throws(StageError) -> Episode {
        try Self.check(title: title, plannedAt: plannedAt, at: date())
        let show = try await change(reference) { (show, _) throws(StageError) in
            try show.plan(title: title, at: plannedAt)
        }
        // It was added just now, so that there is a last one.
        guard let episode = show.episodes.last else { throw .episodeNotFound }
        return episode
    }

    /// Changes the title, or the planned start of an episode that is not open; nil leaves a value unchanged.
    ///
    /// - Throws: 53420, 53421, 53422 for an ended one, 53423 for the start of one that is open, 53429, 3073.
    public func updateEpisode(
        _ id: String,
        of reference: String,
        title: String?,
        plannedAt: Double??
    ) async throws(StageError) -> Episode {
        let id = try episode(id, of: reference).episode.id
        try Self.check(title: title ?? "", plannedAt: plannedAt ?? nil, at: date())
        let show = try await change(reference) { (show, _) throws(StageError) in
            guard let index = show.index(ofEpisode: id) else { throw .episodeNotFound }
            guard show.episodes[index].state != .ended else { throw .episodeEnded }
            if let title { show.episodes[index].title = title }
            if let plannedAt {
                guard show.episodes[index].state == .planned else { throw .episodeOpen }
                show.episodes[index].plannedAt = plannedAt
            }
        }
        guard let index = show.index(ofEpisode: id) else { throw .episodeNotFound }
        return show.episodes[index]
    }

    /// Deletes an episode that is planned or over; its viewership and recordings stay.
    ///
    /// - Throws: 53420, 53421, 53423 for one that is open, 53429.
    public func deleteEpisode(_ id: String, of reference: String) async throws(StageError) {
        let id = try episode(id, of: reference).episode.id
        _ = try await change(reference) { (show, now) throws(StageError) in
            guard let index = show.index(ofEpisode: id) else { throw .episodeNotFound }
            guard [.planned, .ended].contains(show.episodes[index].state) else { throw .episodeOpen }
            let gone = show.episodes.remove(at: index)
            // The schedule goes on after the one that does not take place.
            if gone.state == .planned { try show.skip(gone, at: now) }
        }
    }

    /// Opens an episode's room, backstage; no effect for one that is open.
    ///
    /// - Throws: 53420, 53421, 53422, 53423 while another episode is open, 53006 at the limit of rooms.
    public func open(_ id: String, of reference: String) async throws(StageError) -> Episode {
        let (show, episode) = try episode(id, of: reference)
        try openRoom(of: episode.id, show.name)
        await saveWhatHappened(show.name)
        return try self.episode(episode.id, of: show.name).episode
    }

    /// Shows the hosts to the audience, and starts outputs and recording; opens the episode first if necessary.
    ///
    /// - Throws: As `open`.
    public func goLive(_ id: String, of reference: String) async throws(StageError) -> Episode {
        let (show, episode) = try episode(id, of: reference)
        let sid = try openRoom(of: episode.id, show.name)
        _ = try stage.goLive(room: sid)
        await saveWhatHappened(show.name)
        return try self.episode(episode.id, of: show.name).episode
    }

    /// Ends an open episode: its hosts are disconnected, and the audience sees the last slate.
    ///
    /// - Throws: 53420, 53421 if none is open, 53422.
    public func end(_ id: String, of reference: String) async throws(StageError) -> Episode {
        let (show, episode) = try episode(id, of: reference)
        switch episode.state {
        case .planned: throw .episodeNotFound
        case .ended: throw .episodeEnded
        case .backstage, .live: break
        }
        if let sid = episode.roomSID { try endRoom(sid, because: .ended) }
        await saveWhatHappened(show.name)
        return try self.episode(episode.id, of: show.name).episode
    }

    /// Puts a scene on air in the open episode; its slates stay.
    ///
    /// - Returns: The layout, and the sid of the episode's room.
    /// - Throws: 53420, 53421 if no episode is open, 53432.
    public func apply(
        scene: String,
        of reference: String
    ) async throws(StageError) -> (layout: LayoutView, room: String) {
        let show = try show(reference)
        guard let scene = show.settings.scenes?.first(where: { $0.name == scene }) else { throw .sceneNotFound }
        guard let sid = show.current?.roomSID else { throw .episodeNotFound }
        let layout = try stage.setLayout(room: sid) { scene.replace(&$0) }
        let now = date()
        state.withLock { state in
            state.change(show.name) { show in
                guard let index = show.episodes.firstIndex(where: { $0.roomSID == sid }) else { return }
                show.episodes[index].recordScene(scene.name, at: now)
            }
        }
        await saveWhatHappened(show.name)
        return (layout, sid)
    }

    private func endRoom(_ sid: String, because reason: Episode.EndReason) throws(StageError) {
        let now = date()
        state.withLock { state in
            guard let name = state.rooms[sid] else { return }
            state.end(room: sid, of: name, because: reason, at: now)
        }
        do throws(StageError) {
            try stage.end(room: sid)
        } catch {
            // It has ended in the meantime, which is what was asked for.
            guard error == .roomCompleted || error == .roomNotFound else { throw error }
        }
    }

    /// Creates the room of an episode.
    ///
    /// - Returns: Its sid.
    @discardableResult
    private func openRoom(of id: String, _ name: String) throws(StageError) -> String {
        enum Step {
            case isOpen(String)
            case make(RoomSettings)
        }
        let step = try state.withLock { (state) throws(StageError) -> Step in
            let show = try state.show(name)
            guard let index = show.index(ofEpisode: id) else { throw .episodeNotFound }
            let episode = show.episodes[index]
            if let sid = episode.roomSID, episode.state == .backstage || episode.state == .live { return .isOpen(sid) }
            guard episode.state == .planned else { throw .episodeEnded }
            guard show.current == nil else { throw .episodeOpen }
            guard state.opening.insert(name).inserted else { throw .showBusy }
            return .make(show.settings.episodeRoom)
        }
        guard case .make(let settings) = step else {
            if case .isOpen(let sid) = step { return sid }
            throw .episodeNotFound
        }
        defer { state.withLock { _ = $0.opening.remove(name) } }
        let room = try stage.create(settings, isReserved: true)
        let now = date()
        let isOpen = state.withLock { state in
            let isOpen =
                state.change(name) { show in
                    guard let index = show.index(ofEpisode: id), show.episodes[index].state == .planned else {
                        return false
                    }
                    show.episodes[index].state = .backstage
                    show.episodes[index].roomSID = room.sid
                    show.episodes[index].openedAt = now
                    _ = show.followSchedule(at: now)
                    show.updatedAt = now
                    return true
                } ?? false
            guard isOpen else { return false }
            state.rooms[room.sid] = name
            state.lastActive[room.sid] = now
            return true
        }
        guard isOpen else {
            try? stage.end(room: room.sid)
            throw .episodeNotFound
        }
        effects.log("episode opens", name)
        // Whatever became of the room before it was followed.
        if let present = try? stage.room(room.sid) { reconcile(present, of: name, at: now) }
        return room.sid
    }

    private static func check(title: String, plannedAt: Double?, at now: Double) throws(StageError) {
        guard title.utf8.count <= 200 else { throw .invalidParameter("title", "must have at most 200 bytes") }
        if let plannedAt, !(now - 3600...now + 2 * 366 * 86_400).contains(plannedAt) {
            throw .invalidParameter("planned_at", "must be a time within the next two years")
        }
    }

    // MARK: Hosts

    /// Returns the permission to publish with the stream key of a seat, whose host joins the open episode.
    ///
    /// - Returns: `unknownKey` for a key that no seat has.
    public func authorizePublish(streamKey: String) -> Result<PublishGrant, PublishRefusal> {
        let isScreen = streamKey.hasSuffix(StreamKey.screenSuffix)
        let bare = isScreen ? String(streamKey.dropLast(StreamKey.screenSuffix.count)) : streamKey
        guard let key = StreamKey(bare) else { return .failure(.unknownKey) }
        let found = state.withLock { state -> (Show, Seat)? in
            guard let owner = state.seats[key.identifier], let show = state.shows[owner.show],
                let seat = try? show.seat(owner.identity),
                StreamKey.isEqualInConstantTime(Array(seat.streamKey.utf8), Array(key.text.utf8))
            else { return nil }
            return (show, seat)
        }
        guard let (show, seat) = found else { return .failure(.unknownKey) }
        do {
            let sid = try roomForHost(of: show)
            if show.current?.removal(of: seat.identity) != nil { return .failure(.closed(.participantRemoved)) }
            // Camera and screen may come at the same time, on two event loops.
            try joining.withLock { (_) throws(StageError) in
                guard (try? stage.participant(seat.identity, in: sid)) == nil else { return }
                _ = try stage.join(room: sid, seat.joinRequest)
            }
            return stage.publishGrant(room: sid, identity: seat.identity, source: isScreen ? .screen : .camera)
        } catch {
            return .failure(.closed(error))
        }
    }

    /// Returns the open room of a show; opens the next episode if its time has come.
    private func roomForHost(of show: Show) throws(StageError) -> String {
        if let sid = show.current?.roomSID { return sid }
        guard let next = show.next else { throw .noEpisodeOpen("none is planned") }
        guard let planned = next.plannedAt else { throw .noEpisodeOpen("the director opens the next one") }
        let opening = planned - Double(show.settings.opensBefore)
        guard date() >= opening else {
            throw .noEpisodeOpen("the next one opens at \(Self.text(of: opening, in: show.settings.zone))")
        }
        let sid = try openRoom(of: next.id, show.name)
        saveLater(show.name)
        return sid
    }

    private static func text(of time: Double, in zone: TimeZone?) -> String {
        var style = Date.ISO8601FormatStyle(timeZone: zone ?? .gmt)
        style = style.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false)
        return Date(timeIntervalSince1970: time).formatted(style) + " " + (zone ?? .gmt).identifier
    }

    // MARK: What viewers may know

    /// Returns what viewers may know of a show, or of a room that belongs to none.
    ///
    /// - Throws: 53420.
    public func status(of name: String) throws(StageError) -> ShowStatus {
        guard let show = state.withLock({ $0.shows[name] }) else {
            guard let room = try? stage.summary(of: name), room.name == name else { throw .showNotFound }
            var status = ShowStatus(title: name, state: room.status == .completed ? .ended : .live)
            if room.status == .inProgress, room.isBackstage { status.state = .upcoming }
            status.endedAt = room.endedAt
            return status
        }
        let settings = show.settings
        var status = ShowStatus(title: settings.title.isEmpty ? name : settings.title, state: .upcoming)
        // Of a private show everyone may know title and time only.
        let isPublic = settings.room.audienceAccess.isUnrestricted
        status.timeZone = settings.timeZone
        if isPublic {
            status.description = settings.description
            status.hasPoster = settings.poster != nil
        }
        status.endedAt = show.last?.endedAt
        let episode = show.current ?? show.next
        if episode?.state == .live {
            status.state = .live
        } else if episode == nil, show.last != nil {
            status.state = .ended
        }
        status.startsAt = episode?.state == .live ? nil : episode?.plannedAt
        if isPublic { status.episodeTitle = (episode ?? show.last)?.title ?? "" }
        return status
    }

    // MARK: Time

    /// Opens, starts and ends episodes by the clock; call it once a second.
    public func advance() {
        let now = date()
        enum Step {
            case open(String, show: String)
            case start(room: String, show: String)
            case end(room: String, show: String)
            case changed(show: String)
        }
        let steps = state.withLock { state in
            state.shows.values.flatMap { show -> [Step] in
                var steps: [Step] = []
                if state.followSchedule(of: show.name, at: now) { steps.append(.changed(show: show.name)) }
                if let open = show.current, let sid = open.roomSID {
                    if open.state == .backstage, open.wentLiveAt == nil, show.settings.startsByItself,
                        let planned = open.plannedAt, planned <= now
                    {
                        steps.append(.start(room: sid, show: show.name))
                    }
                    let since = max(state.lastActive[sid] ?? now, open.wentLiveAt ?? open.plannedAt ?? 0)
                    if now - since > Double(show.settings.idleTimeout) {
                        steps.append(.end(room: sid, show: show.name))
                    }
                } else if let next = show.next, let planned = next.plannedAt,
                    planned - Double(show.settings.opensBefore) <= now
                {
                    if now - planned < Self.missedAfter {
                        steps.append(.open(next.id, show: show.name))
                    } else if state.miss(next.id, of: show.name, at: now) {
                        steps.append(.changed(show: show.name))
                    }
                }
                return steps
            }
        }
        for step in steps {
            switch step {
            case .open(let id, let show):
                // Where it cannot be opened now, the next second tries again.
                guard (try? openRoom(of: id, show)) != nil else { continue }
                saveLater(show)
            case .start(let room, let show):
                effects.log("episode goes live as planned", show)
                _ = try? stage.goLive(room: room)
            case .end(let room, let show):
                effects.log("episode ends, because no host is connected", show)
                try? endRoom(room, because: .idle)
            case .changed(let show):
                saveLater(show)
            }
        }
        recordActivity(at: now)
    }

    /// Records which open rooms have a connected host.
    private func recordActivity(at now: Double) {
        for sid in state.withLock({ Array($0.rooms.keys) }) {
            guard let room = try? stage.room(sid), room.status == .inProgress else { continue }
            guard room.participants.contains(where: { $0.mode == .sendAndReceive && $0.status == .connected }) else {
                continue
            }
            state.withLock { $0.lastActive[sid] = now }
        }
    }

    // MARK: Following rooms

    private func follow(_ event: StageEvent) {
        guard let name = state.withLock({ $0.rooms[event.roomSID] }) else { return restored(event) }
        let now = date()
        record(event, of: name, at: now)
        switch event.payload {
        case .roomUpdated(let room) where room.status == .inProgress:
            storeHostOrder(of: room, name)
            reconcile(room, of: name, at: now)
        case .roomEnded(let room):
            state.withLock { state in
                state.end(room: room.sid, of: name, because: .ended, at: now)
                state.rooms[room.sid] = nil
                state.lastActive[room.sid] = nil
                _ = state.followSchedule(of: name, at: now)
            }
            saveLater(name)
        case .participantLeft(let participant, .removed):
            state.withLock { state in
                state.change(name) { show in
                    guard let index = show.episodes.firstIndex(where: { $0.roomSID == event.roomSID }) else { return }
                    show.episodes[index].remove(participant.identity, by: participant.removedBy, at: now)
                }
            }
            saveLater(name)
        default:
            break
        }
    }

    /// Records what may explain the audience of an open episode.
    private func record(_ event: StageEvent, of name: String, at now: Double) {
        let isNew = state.withLock { state in
            state.change(name) { show in
                guard let index = show.episodes.firstIndex(where: { $0.roomSID == event.roomSID }) else { return false }
                return show.episodes[index].record(event.payload, layout: show.settings.room.layout.kind, at: now)
            } ?? false
        }
        if isNew { saveLater(name) }
    }

    /// Takes the order of hosts from an open episode's room, so that the next episode begins with it.
    private func storeHostOrder(of room: RoomView, _ name: String) {
        let isNew = state.withLock { state in
            state.change(name) { show in
                guard show.settings.room.hostOrder != room.settings.hostOrder else { return false }
                show.settings.room.hostOrder = room.settings.hostOrder
                return true
            } ?? false
        }
        if isNew { saveLater(name) }
    }

    /// Takes the state of an open episode from its room, and starts what belongs to it when it goes live first.
    private func reconcile(_ room: RoomView, of name: String, at now: Double) {
        let isFirst = state.withLock { state in
            state.change(name) { show -> Bool? in
                guard let index = show.episodes.firstIndex(where: { $0.roomSID == room.sid }),
                    show.episodes[index].state != .ended
                else { return nil }
                guard room.status == .inProgress else {
                    show.endEpisode(at: index, because: .ended, at: now)
                    return false
                }
                let wanted: Episode.State = room.isBackstage ? .backstage : .live
                guard show.episodes[index].state != wanted else { return nil }
                show.episodes[index].state = wanted
                show.episodes[index].recordState(at: now)
                show.updatedAt = now
                guard wanted == .live, show.episodes[index].wentLiveAt == nil else { return false }
                show.episodes[index].wentLiveAt = now
                return true
            } ?? nil
        }
        guard let isFirst else { return }
        if isFirst { startEffects(of: name, room) }
        saveLater(name)
    }

    /// Recognises the room of an open episode that comes back after a restart.
    private func restored(_ event: StageEvent) {
        guard case .roomCreated(let room) = event.payload else { return }
        let now = date()
        state.withLock { state in
            guard let show = state.shows[room.settings.name], show.current?.roomSID == room.sid else { return }
            state.rooms[room.sid] = show.name
            state.lastActive[room.sid] = now
        }
    }

    private func startEffects(of name: String, _ room: RoomView) {
        guard let show = try? show(name) else { return }
        startOutputs(of: show, in: room.sid) { _ in true }
        if show.settings.isRecorded { startRecording(of: room) }
    }

    private func startOutputs(of show: Show, in roomSID: String, where isWanted: (OutputTarget) -> Bool) {
        guard var plan = show.settings.outputs else { return }
        plan.targets = plan.targets.filter(isWanted)
        guard !plan.targets.isEmpty else { return }
        do {
            try effects.startOutputs(show.name, plan)
        } catch {
            stage.livestreamFailed(room: roomSID, error)
        }
    }

    private func startRecording(of room: RoomView) {
        do {
            try effects.startRecording(room)
        } catch {
            stage.recordingFailed(room: room.sid, error)
        }
    }

    // MARK: Storage

    /// Changes a show once that is on disk; a change that cannot be stored has no effect.
    ///
    /// What happens to its episodes meanwhile has precedence.
    ///
    /// - Throws: 53431 while another change is under way.
    private func change(
        _ reference: String,
        _ body: (inout Show, _ now: Double) throws(StageError) -> Void
    ) async throws(StageError) -> Show {
        let now = date()
        let (before, after) = try state.withLock { (state) throws(StageError) in
            let before = try state.show(reference)
            guard state.changing[before.name] == nil else { throw .showBusy }
            var show = before
            try body(&show, now)
            show.updatedAt = now
            state.changing[before.name] = false
            return (before, show)
        }
        let name = before.name
        do {
            let merged: @Sendable () -> Show = { [weak self] in
                let present = self?.state.withLock { $0.shows[name] } ?? before
                return after.merged(with: present, since: before)
            }
            try await store.save(before.id, merged, all: all)
        } catch {
            state.withLock { _ = $0.changing.removeValue(forKey: name) }
            effects.log("show cannot be stored: \(error)", name)
            throw .showNotStored
        }
        let (result, hasChanged) = state.withLock { state in
            let hasChanged = state.changing.removeValue(forKey: name) ?? false
            let merged = after.merged(with: state.shows[name] ?? before, since: before)
            state.insert(merged)
            return (merged, hasChanged)
        }
        if hasChanged { saveLater(name) }
        return result
    }

    /// Returns all shows.
    private var all: @Sendable () -> [Show] {
        { [weak self] in self?.shows ?? [] }
    }

    /// Writes a new show; returns when it is on disk.
    private func save(_ name: String) async throws(StageError) {
        guard let id = state.withLock({ $0.shows[name]?.id }) else { throw .showNotFound }
        do {
            try await store.save(id, { [weak self] in self?.state.withLock { $0.shows[name] } }, all: all)
        } catch {
            effects.log("show cannot be stored: \(error)", name)
            throw .showNotStored
        }
    }

    /// Writes what happened to a show's episodes.
    ///
    /// A failure is logged and undoes nothing: the show goes on, and the next change writes it again.
    private func saveWhatHappened(_ name: String) async {
        let isLater = state.withLock { state in
            guard state.changing[name] != nil else { return false }
            state.changing[name] = true
            return true
        }
        if !isLater { try? await save(name) }
    }

    /// The same, without waiting.
    private func saveLater(_ name: String) {
        Task { await saveWhatHappened(name) }
    }
}

extension ShowDirectory.State {
    fileprivate func show(_ reference: String) throws(StageError) -> Show {
        guard let show = shows[reference] ?? shows.values.first(where: { $0.id == reference }) else {
            throw .showNotFound
        }
        return show
    }

    /// Adds or replaces a show, with the keys of its seats.
    mutating func insert(_ show: Show) {
        remove(show.name)
        shows[show.name] = show
        for seat in show.seats {
            if let key = StreamKey(seat.streamKey) { seats[key.identifier] = (show.name, seat.identity) }
        }
    }

    mutating func remove(_ name: String) {
        guard let show = shows.removeValue(forKey: name) else { return }
        for seat in show.seats {
            if let key = StreamKey(seat.streamKey) { seats[key.identifier] = nil }
        }
    }

    /// Changes a show in place, but for its seats; nil if there is none.
    @discardableResult
    mutating func change<Outcome>(_ name: String, _ body: (inout Show) -> Outcome) -> Outcome? {
        guard let index = shows.index(forKey: name) else { return nil }
        return body(&shows.values[index])
    }

    mutating func end(room sid: String, of name: String, because reason: Episode.EndReason, at now: Double) {
        change(name) { show in
            guard let index = show.episodes.firstIndex(where: { $0.roomSID == sid }) else { return }
            show.endEpisode(at: index, because: reason, at: now)
        }
    }

    mutating func followSchedule(of name: String, at now: Double) -> Bool {
        change(name) { $0.followSchedule(at: now) } ?? false
    }

    mutating func miss(_ id: String, of name: String, at now: Double) -> Bool {
        change(name) { show in
            guard let index = show.index(ofEpisode: id) else { return false }
            show.endEpisode(at: index, because: .missed, at: now)
            return true
        } ?? false
    }
}

extension Show {
    /// Returns the seat of a host.
    ///
    /// - Throws: 53427.
    public func seat(_ identity: String) throws(StageError) -> Seat { seats[try index(ofSeat: identity)] }

    func index(ofSeat identity: String) throws(StageError) -> Int {
        guard let index = seats.firstIndex(where: { $0.identity == identity }) else { throw .seatNotFound }
        return index
    }

    mutating func addSeat(_ identity: String, displayName: String?, at now: Double) throws(StageError) {
        guard !seats.contains(where: { $0.identity == identity }) else { throw .seatExists }
        guard seats.count < ShowDirectory.mostSeats else {
            throw .invalidParameter("seats", "must be at most \(ShowDirectory.mostSeats)")
        }
        let seat = Seat(identity: identity, displayName: displayName, at: now)
        try seat.joinRequest.validate()
        seats.append(seat)
    }
}
