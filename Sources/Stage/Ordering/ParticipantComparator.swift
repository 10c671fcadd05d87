/// A rule that says which of two participants comes first, or that it has no opinion.
///
/// Comparators are put together by `combined(_:)`: the first one with an opinion decides. The single rules are in
/// `ParticipantComparator+Rules.swift`, the usual lists of them in `ParticipantComparator+Presets.swift`.
public struct ParticipantComparator: Sendable {
    /// How the first of two participants stands to the second.
    public enum Comparison: Sendable, Hashable {
        /// The first one comes first.
        case orderedAscending
        /// The rule has no opinion.
        case orderedSame
        /// The second one comes first.
        case orderedDescending
    }

    /// What the rule is called, such as `pinned`.
    public let name: String
    private let rule: @Sendable (ParticipantOrder, ParticipantOrder) -> Comparison

    /// Makes a rule.
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

    /// Applies rules from left to right; the first one with an opinion decides.
    public static func combined(_ comparators: [ParticipantComparator]) -> ParticipantComparator {
        ParticipantComparator(comparators.map(\.name).joined(separator: ", ")) { one, other in
            for comparator in comparators {
                let comparison = comparator.rule(one, other)
                if comparison != .orderedSame { return comparison }
            }
            return .orderedSame
        }
    }

    /// This rule, only for two participants of whom at least one is not visible.
    ///
    /// Whoever is seen keeps the place that way. Such a rule is not transitive (two visible participants are the same
    /// to each other, and not the same to a third one that is hidden), so an order by it depends on the order before:
    /// `sorted(using:)` is made for that, the standard library's sorting is not.
    public var ifInvisible: ParticipantComparator {
        ParticipantComparator("ifInvisible(\(name))") { one, other in
            one.showTrack && other.showTrack ? .orderedSame : rule(one, other)
        }
    }
}
