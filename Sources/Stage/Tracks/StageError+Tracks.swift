// What can be wrong with a track.

extension StageError {
    /// 53300: a command for a track that is not published.
    public static let trackNotFound = StageError(
        code: 53300,
        name: "TrackInvalidError",
        message: "There is no such Track",
        cause: "The participant does not publish a track of this name",
        solution: "Publish the track first",
        status: 404
    )
    /// 53301: not one of the three names.
    public static let trackNameInvalid = StageError(
        code: 53301,
        name: "TrackNameInvalidError",
        message: "Track name is invalid",
        cause: "A track is named mic, camera or screen",
        solution: "Use one of the three names",
        status: 400
    )
    /// 53303: characters that no name of a track has.
    public static let trackNameCharactersInvalid = StageError(
        code: 53303,
        name: "TrackNameCharsInvalidError",
        message: "Track name contains invalid characters",
        cause: "The track's name has characters other than A-Z, a-z, 0-9, _ and -",
        solution: "Use mic, camera or screen",
        status: 400
    )
    /// 53203: more tracks than a participant may publish.
    ///
    /// A participant has one track of each of three names, so that the gateway refuses a second one with 53304, and one
    /// with another name with 53301 or 53303. This code is kept for clients that know it.
    public static let tooManyTracks = StageError(
        code: 53203,
        name: "ParticipantMaxTracksExceededError",
        message: "Participant publishes too many tracks",
        cause: "A participant publishes a microphone, a camera and a screen at most",
        solution: "Unpublish a track before the next one is published",
        status: 409
    )
    /// 53304: a second track of the same name.
    public static let trackNameDuplicated = StageError(
        code: 53304,
        name: "TrackNameIsDuplicatedError",
        message: "Track name is duplicated",
        cause: "The participant publishes a track of this name already",
        solution: "Enable the existing track, or unpublish it first",
        status: 409
    )
    /// 53305: more than the gateway takes: of all hosts together, or from one of them.
    ///
    /// - Parameter fault: What is too much, as a sentence without its full stop.
    public static func trackCapacityReached(_ fault: String) -> StageError {
        StageError(
            code: 53305,
            name: "TrackServerTrackCapacityReachedError",
            message: fault,
            cause: "What is published is beyond a limit of the gateway or of the participant",
            solution: "Publish less, or try again later",
            status: 503,
            isRetryable: true,
            retryAfter: 10
        )
    }
}
