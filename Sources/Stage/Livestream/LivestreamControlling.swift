/// Starts and stops the pushes of a room's program; the control API's view of whoever does the pushing.
public protocol LivestreamControlling: Sendable {
    /// Begins to push to `targets`; they connect on their own time.
    ///
    /// - Throws: 4015 for no target or one that cannot be used, 3073 for options out of their range, 3054 when the room
    ///   is already live, 3055 while a start or a stop is under way, 4030 at the gateway's limit of livestreams.
    func start(room: String, targets: [OutputTarget], options: LivestreamOptions) throws(StageError)
    /// Takes down every output; a livestream that is starting may be stopped, too.
    ///
    /// - Throws: 4014 when nothing runs, 3055 while a stop is under way.
    func stop(room: String) throws(StageError)
    /// Adds outputs to a running livestream, all of them or none.
    ///
    /// - Throws: 4014 when nothing runs, 3055 while a stop is under way, 4015 for no target, one that cannot be used, or
    ///   a name already taken.
    func add(_ targets: [OutputTarget], room: String) throws(StageError)
    /// Takes one output down; the last one stays, for stopping is a command of its own.
    ///
    /// - Throws: 4014 when nothing runs or the name is unknown, 3055 while a stop is under way, 4015 with status 409 for
    ///   the last output.
    func remove(output name: String, room: String) throws(StageError)
    /// Has one output that is not connected try again now; one that is stays as it is.
    ///
    /// - Throws: 4014 when nothing runs or the name is unknown, 3055 while a stop is under way.
    func retry(output name: String, room: String) throws(StageError)
    /// The present state; `stopped` without outputs for a room that never was live.
    func status(room: String) -> LivestreamStatus
}

extension LivestreamControlling {
    /// Begins to push to `targets` with the default options.
    ///
    /// - Throws: As with options.
    public func start(room: String, targets: [OutputTarget]) throws(StageError) {
        try start(room: room, targets: targets, options: LivestreamOptions())
    }
}
