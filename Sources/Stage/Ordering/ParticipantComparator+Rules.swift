extension ParticipantComparator {
    /// Pinned before not pinned; of two, a pin for everybody before a local one, then the newer one.
    public static let pinned = ParticipantComparator("pinned") { one, other in
        guard let pin = one.pin, let otherPin = other.pin else {
            return prefer(one.pin != nil, other.pin != nil)
        }
        if pin.isLocal != otherPin.isLocal { return prefer(!pin.isLocal, !otherPin.isLocal) }
        return prefer(pin.pinnedAt > otherPin.pinnedAt, otherPin.pinnedAt > pin.pinnedAt)
    }

    /// Whoever shares a screen first.
    public static let screensharing = preferring("screensharing") { $0.isScreenSharing }
    /// Whoever has the floor first.
    public static let dominantSpeaker = preferring("dominantSpeaker") { $0.isDominantSpeaker }
    /// Whoever speaks at this moment first.
    public static let speaking = preferring("speaking") { $0.isSpeaking }
    /// Whoever is seen first.
    public static let publishingVideo = preferring("publishingVideo") { $0.hasVideo }
    /// Whoever is heard first.
    public static let publishingAudio = preferring("publishingAudio") { $0.hasAudio }

    /// By id, ascending; the same id is the same.
    public static let userID = ParticipantComparator("userId") { one, other in
        prefer(one.id < other.id, other.id < one.id)
    }

    /// Whoever has at least one of some roles first.
    public static func roles(_ roles: Set<String> = ["admin", "host", "speaker"]) -> ParticipantComparator {
        preferring("roles(\(roles.sorted().joined(separator: ", ")))") { !$0.roles.isDisjoint(with: roles) }
    }

    /// Whoever has a quality before whoever has it not.
    public static func preferring(
        _ name: String,
        _ quality: @escaping @Sendable (ParticipantOrder) -> Bool
    ) -> ParticipantComparator {
        ParticipantComparator(name) { prefer(quality($0), quality($1)) }
    }

    private static func prefer(_ one: Bool, _ other: Bool) -> Comparison {
        if one == other { return .orderedSame }
        return one ? .orderedAscending : .orderedDescending
    }
}
