/// A time in which a playback was away, to go on as the same one.
public struct AbsenceResource: Codable, Sendable, Hashable {
    /// When it went.
    public var from: Timestamp
    /// When it was back.
    public var to: Timestamp

    /// Makes a time away.
    public init(from: Timestamp, to: Timestamp) {
        self.from = from
        self.to = to
    }

    private enum CodingKeys: String, CodingKey {
        case from
        case to
    }
}
