extension Sequence where Element == ParticipantComparator {
    /// The rules as one, applied from left to right.
    public var combined: ParticipantComparator { .combined(Array(self)) }
}

extension ParticipantComparator {
    /// The usual order: pinned, screen, floor, video, audio, id.
    ///
    /// It is total: two participants with different ids are never the same to it.
    public static let defaultComparators: [ParticipantComparator] = [
        .pinned, .screensharing, .dominantSpeaker, .publishingVideo, .publishingAudio, .userID,
    ]

    /// An order in which those who are visible stay where they are, except for pins and screens.
    public static let stableComparators: [ParticipantComparator] = [
        .pinned,
        .screensharing,
        combined([.dominantSpeaker, .speaking, .publishingVideo, .publishingAudio, .userID]).ifInvisible,
    ]

    /// As `stableComparators`, for a view with one large place: who has the floor comes first even when visible.
    public static let speakerComparators: [ParticipantComparator] = [
        .pinned,
        .screensharing,
        .dominantSpeaker,
        combined([.speaking, .publishingVideo, .publishingAudio, .userID]).ifInvisible,
    ]

    /// For an audience: who is visible stays, and those with a role on stage come before those without.
    public static let livestreamComparators: [ParticipantComparator] = [
        combined([.dominantSpeaker, .speaking, .publishingVideo, .publishingAudio]).ifInvisible,
        .roles(),
    ]
}
