public import FootlightModel
public import Stage

/// Shows, their seats and their episodes; for operators, but for ``showStatus(_:)``.
///
/// An episode is named by its id, or by `current`: the one that is open, else the next.
extension BroadcastClient {
    /// Makes a show, and plans its first episode if it has a schedule.
    ///
    /// - Parameter template: The kind of show to begin with, such as `interview`.
    /// - Throws: 53425 when the name is in use, 3073 naming a field.
    public func createShow(_ body: ShowBody, template: String? = nil) async throws(StageError) -> ShowResource {
        try await command(.post, ["shows"], query: [("template", template)], body)
    }

    /// Returns all shows by name.
    public func shows() async throws(StageError) -> [ShowResource] {
        let list: ShowList = try await read(["shows"])
        return list.shows
    }

    /// Returns a show.
    ///
    /// - Throws: 53420.
    public func show(_ show: String) async throws(StageError) -> ShowResource {
        try await read(["shows", show])
    }

    /// Changes a show; omitted fields stay unchanged.
    ///
    /// - Throws: 53420, 3073 naming a field.
    public func update(show: String, _ body: ShowBody) async throws(StageError) -> ShowResource {
        try await command(.patch, ["shows", show], body)
    }

    /// Deletes a show with its seats; figures and recordings of its episodes stay.
    ///
    /// - Throws: 53420, 53423 while an episode is open.
    public func deleteShow(_ show: String) async throws(StageError) {
        try await perform(.delete, ["shows", show])
    }

    /// Makes a seat with a stream key that stays.
    ///
    /// - Throws: 53420, 53428.
    public func addSeat(_ body: SeatBody, to show: String) async throws(StageError) -> SeatResource {
        try await command(.post, ["shows", show, "seats"], body)
    }

    /// Returns a seat with its keys.
    ///
    /// - Throws: 53420, 53427.
    public func seat(_ identity: String, of show: String) async throws(StageError) -> SeatResource {
        try await read(["shows", show, "seats", identity])
    }

    /// Makes new keys for a seat; the former ones end at once.
    ///
    /// - Throws: 53420, 53427.
    public func renewKey(ofSeat identity: String, in show: String) async throws(StageError) -> SeatResource {
        try await command(.post, ["shows", show, "seats", identity, "key"])
    }

    /// Removes a seat; its host is disconnected.
    ///
    /// - Throws: 53420, 53427.
    public func removeSeat(_ identity: String, from show: String) async throws(StageError) {
        try await perform(.delete, ["shows", show, "seats", identity])
    }

    /// Lets a host connect again who was removed from the open episode.
    ///
    /// - Throws: 53420, 53427.
    public func readmit(seat identity: String, to show: String) async throws(StageError) {
        try await perform(.delete, ["shows", show, "seats", identity, "removal"])
    }

    /// Returns the episodes of a show by number.
    ///
    /// - Throws: 53420.
    public func episodes(of show: String) async throws(StageError) -> [EpisodeResource] {
        let list: EpisodeList = try await read(["shows", show, "episodes"])
        return list.episodes
    }

    /// Returns what happened in an episode, which may explain what its audience did.
    ///
    /// - Throws: 53420, 53421.
    public func moments(
        ofEpisode id: String = "current",
        in show: String
    ) async throws(StageError) -> [EpisodeMomentResource] {
        let list: EpisodeMomentList = try await read(["shows", show, "episodes", id, "moments"])
        return list.moments
    }

    /// Returns an episode.
    ///
    /// - Throws: 53420, 53421.
    public func episode(_ episode: String = "current", of show: String) async throws(StageError) -> EpisodeResource {
        try await read(["shows", show, "episodes", episode])
    }

    /// Returns the planned episode that comes first; nil if none is planned.
    ///
    /// - Throws: 53420.
    public func nextEpisode(of show: String) async throws(StageError) -> EpisodeResource? {
        try await self.show(show).next
    }

    /// Plans an episode.
    ///
    /// - Throws: 53420, 53424, 3073 for a start that is past or more than two years ahead.
    public func planEpisode(
        of show: String,
        _ body: EpisodeBody = EpisodeBody()
    ) async throws(StageError)
        -> EpisodeResource
    {
        try await command(.post, ["shows", show, "episodes"], body)
    }

    /// Changes the title or the planned start of an episode; omitted fields stay unchanged.
    ///
    /// - Throws: 53420, 53421, 53422, 3073 naming a field.
    @discardableResult
    public func update(
        episode: String = "current",
        of show: String,
        _ body: EpisodeBody
    ) async throws(StageError) -> EpisodeResource {
        try await command(.patch, ["shows", show, "episodes", episode], body)
    }

    /// Removes a planned episode.
    ///
    /// - Throws: 53420, 53421, 53422.
    public func deleteEpisode(_ episode: String, of show: String) async throws(StageError) {
        try await perform(.delete, ["shows", show, "episodes", episode])
    }

    /// Opens an episode for its hosts, backstage.
    ///
    /// - Throws: 53420, 53421, 53422, 53423, 53006.
    @discardableResult
    public func openEpisode(_ episode: String = "current", of show: String) async throws(StageError) -> EpisodeResource
    {
        try await command(.post, ["shows", show, "episodes", episode, "open"])
    }

    /// Shows the hosts of an episode to the audience; opens it first if it is not open.
    ///
    /// - Throws: As ``openEpisode(_:of:)``.
    @discardableResult
    public func goLive(
        withEpisode episode: String = "current",
        of show: String
    ) async throws(StageError)
        -> EpisodeResource
    {
        try await command(.post, ["shows", show, "episodes", episode, "go_live"])
    }

    /// Ends an episode; its hosts are disconnected.
    ///
    /// - Throws: 53420, 53421, 53422.
    @discardableResult
    public func endEpisode(_ episode: String = "current", of show: String) async throws(StageError) -> EpisodeResource {
        try await command(.post, ["shows", show, "episodes", episode, "end"])
    }

    /// Returns what everyone may know of a show; needs no token.
    ///
    /// - Throws: 53420.
    public func showStatus(_ show: String) async throws(StageError) -> ShowStatusResource {
        try await read(["shows", show, "status"])
    }

    /// Returns why hosts of a room are not heard or seen, and what the load of its program means.
    ///
    /// - Throws: 53106.
    public func diagnosis(of room: String) async throws(StageError) -> RoomDiagnosisResource {
        try await read(["rooms", room, "diagnosis"])
    }
}
