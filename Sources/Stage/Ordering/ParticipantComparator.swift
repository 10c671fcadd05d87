/// A rule that orders two participants, or leaves them equal.
///
/// `combined(_:)` chains comparators: the first one that does not return equal decides.
public struct ParticipantComparator: Sendable {
    /// The result of a comparison.
    public enum Comparison: Sendable, Hashable {
        /// The first one comes first.
        case orderedAscending
        /// The rule does not decide.
        case orderedSame
        /// The second one comes first.
        case orderedDescending
    }

    /// The name of the rule, such as `pinned`.
    public let name: String
    private let rule: @Sendable (ParticipantOrder, ParticipantOrder) -> Comparison

    /// Creates a rule.
    public init(
        _ name: String,
        _ rule: @escaping @Sendable (ParticipantOrder, ParticipantOrder) -> Comparison
    ) {
        self.name = name
        self.rule = rule
    }

    /// Compares two participants.
    public func compare(_ one: some RankedParticipant, _ other: some RankedParticipant) -> Comparison {
        rule(one.order, other.order)
    }

    /// Combines rules from left to right; the first one that does not return equal decides.
    public static func combined(_ comparators: [ParticipantComparator]) -> ParticipantComparator {
        ParticipantComparator(comparators.map(\.name).joined(separator: ", ")) { one, other in
            for comparator in comparators {
                let comparison = comparator.rule(one, other)
                if comparison != .orderedSame { return comparison }
            }
            return .orderedSame
        }
    }

    /// The same rule, restricted to pairs with a hidden participant.
    ///
    /// Visible participants thus keep their positions. Such a rule is not transitive (two visible participants are
    /// equal to each other, but not to a hidden third one), so the result depends on the previous order:
    /// `sorted(using:)` supports that, the standard library's sorting does not.
    public var ifInvisible: ParticipantComparator {
        ParticipantComparator("ifInvisible(\(name))") { one, other in
            one.showTrack && other.showTrack ? .orderedSame : rule(one, other)
        }
    }
}

extension ParticipantComparator {
    /// Pinned before unpinned; a pin for all before a local one, then the newer one.
    public static let pinned = ParticipantComparator("pinned") { one, other in
        guard let pin = one.pin, let otherPin = other.pin else {
            return prefer(one.pin != nil, other.pin != nil)
        }
        if pin.isLocal != otherPin.isLocal { return prefer(!pin.isLocal, !otherPin.isLocal) }
        return prefer(pin.pinnedAt > otherPin.pinnedAt, otherPin.pinnedAt > pin.pinnedAt)
    }

    /// Participants that share a screen first.
    public static let screensharing = preferring("screensharing") { $0.isScreenSharing }
    /// The dominant speaker first.
    public static let dominantSpeaker = preferring("dominantSpeaker") { $0.isDominantSpeaker }
    /// Participants that speak now first.
    public static let speaking = preferring("speaking") { $0.isSpeaking }
    /// Participants with video first.
    public static let publishingVideo = preferring("publishingVideo") { $0.hasVideo }
    /// Participants with audio first.
    public static let publishingAudio = preferring("publishingAudio") { $0.hasAudio }

    /// Ascending by id; equal ids are equal.
    public static let userID = ParticipantComparator("userId") { one, other in
        prefer(one.id < other.id, other.id < one.id)
    }

    /// Participants with at least one of some roles first.
    public static func roles(_ roles: Set<String> = ["admin", "host", "speaker"]) -> ParticipantComparator {
        preferring("roles(\(roles.sorted().joined(separator: ", ")))") { !$0.roles.isDisjoint(with: roles) }
    }

    /// Participants with a property first.
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

extension Sequence where Element == ParticipantComparator {
    /// The rules combined from left to right.
    public var combined: ParticipantComparator { .combined(Array(self)) }
}

extension ParticipantComparator {
    /// The default order: pinned, screen, dominant speaker, video, audio, id.
    ///
    /// The order is total: two participants with different ids are never equal.
    public static let defaultComparators: [ParticipantComparator] = [
        .pinned, .screensharing, .dominantSpeaker, .publishingVideo, .publishingAudio, .userID,
    ]

    /// An order in which visible participants stay where they are, except for pins and screens.
    public static let stableComparators: [ParticipantComparator] = [
        .pinned,
        .screensharing,
        combined([.dominantSpeaker, .speaking, .publishingVideo, .publishingAudio, .userID]).ifInvisible,
    ]

    /// As `stableComparators`, for a view with one large tile: the dominant speaker comes first even when visible.
    public static let speakerComparators: [ParticipantComparator] = [
        .pinned,
        .screensharing,
        .dominantSpeaker,
        combined([.speaking, .publishingVideo, .publishingAudio, .userID]).ifInvisible,
    ]

    /// An order for an audience: visible participants stay, and those with a role on stage come before those without.
    public static let livestreamComparators: [ParticipantComparator] = [
        combined([.dominantSpeaker, .speaking, .publishingVideo, .publishingAudio]).ifInvisible,
        .roles(),
    ]
}

/// The sort key of a participant at one moment.
public struct ParticipantOrder: Sendable, Hashable {
    /// A pin on the participant.
    public struct Pin: Sendable, Hashable {
        /// Whether a viewer set it for its own view; a pin for all comes first.
        public var isLocal: Bool
        /// The time of the pin, on any scale; the later one comes first.
        public var pinnedAt: Double

        /// Creates a pin; one for all by default.
        public init(isLocal: Bool = false, pinnedAt: Double) {
            self.isLocal = isLocal
            self.pinnedAt = pinnedAt
        }
    }

    /// The id; decides last.
    public var id: String
    /// The pin; nil without one.
    public var pin: Pin?
    /// Whether a screen is visible.
    public var isScreenSharing: Bool
    /// Whether the participant is the dominant speaker.
    public var isDominantSpeaker: Bool
    /// Whether the participant speaks now.
    public var isSpeaking: Bool
    /// Whether video is visible.
    public var hasVideo: Bool
    /// Whether the microphone is on.
    public var hasAudio: Bool
    /// Whether the participant is visible in the sorted view.
    public var showTrack: Bool
    /// Roles such as `admin`, `host` and `speaker`.
    public var roles: Set<String>

    /// Creates a sort key; omitted values are off.
    public init(
        id: String,
        pin: Pin? = nil,
        isScreenSharing: Bool = false,
        isDominantSpeaker: Bool = false,
        isSpeaking: Bool = false,
        hasVideo: Bool = false,
        hasAudio: Bool = false,
        showTrack: Bool = false,
        roles: Set<String> = []
    ) {
        self.id = id
        self.pin = pin
        self.isScreenSharing = isScreenSharing
        self.isDominantSpeaker = isDominantSpeaker
        self.isSpeaking = isSpeaking
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
        self.showTrack = showTrack
        self.roles = roles
    }
}

/// A value that a `ParticipantComparator` can order.
public protocol RankedParticipant {
    /// The sort key.
    var order: ParticipantOrder { get }
}

extension ParticipantOrder: RankedParticipant {
    /// The sort key itself.
    public var order: ParticipantOrder { self }
}

extension Sequence where Element: RankedParticipant {
    /// Returns the participants in the order of some rules; the sort is stable.
    public func sorted(using comparators: [ParticipantComparator]) -> [Element] {
        sorted(using: comparators.combined)
    }

    /// Returns the participants in the order of a rule; the sort is stable.
    ///
    /// A bottom-up merge sort: for any rule, even an inconsistent one, the result is a permutation of the participants
    /// and deterministic.
    public func sorted(using comparator: ParticipantComparator) -> [Element] {
        var sorted = map { (element: $0, order: $0.order) }
        var length = 1
        while length < sorted.count {
            var merged: [(element: Element, order: ParticipantOrder)] = []
            merged.reserveCapacity(sorted.count)
            for start in stride(from: 0, to: sorted.count, by: 2 * length) {
                let middle = Swift.min(start + length, sorted.count)
                let end = Swift.min(start + 2 * length, sorted.count)
                var (left, right) = (start, middle)
                while left < middle, right < end {
                    let isInOrder = comparator.compare(sorted[left].order, sorted[right].order) != .orderedDescending
                    merged.append(isInOrder ? sorted[left] : sorted[right])
                    if isInOrder { left += 1 } else { right += 1 }
                }
                merged.append(contentsOf: sorted[left..<middle])
                merged.append(contentsOf: sorted[right..<end])
            }
            sorted = merged
            length *= 2
        }
        return sorted.map(\.element)
    }
}
