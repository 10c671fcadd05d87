/// When the viewers by requests of one shard were last heard of.
///
/// Their rows do not say so, as a row for every request would be too much to write. So every second all of a shard are
/// written at once, in two bytes each: without it a later run could not tell who had left shortly before a kill from who
/// watched.
public struct LastHits: Sendable, Equatable {
    /// Of a place where nobody watches by requests.
    static let nobody = UInt16.max

    /// The moment they are of, milliseconds since 1970.
    public var asOf: Int64
    /// Milliseconds since the last hit, by the session's place in the shard's table; all bits set where there is none.
    public var ages: [UInt16]

    /// The ages at a moment.
    public init(asOf: Int64, ages: [UInt16]) {
        self.asOf = asOf
        self.ages = ages
    }

    /// An age as it is kept.
    static func age(_ milliseconds: Int64) -> UInt16 {
        UInt16(min(max(milliseconds, 0), Int64(nobody) - 1))
    }

    /// When the session in a place was last heard of, milliseconds since 1970; nil where nobody knows.
    func moment(of place: Int?) -> Int64? {
        guard let place, ages.indices.contains(place), ages[place] != Self.nobody else { return nil }
        return asOf - Int64(ages[place])
    }
}
