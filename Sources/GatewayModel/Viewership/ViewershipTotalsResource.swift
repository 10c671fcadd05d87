/// The answer of `GET /v1/viewership`: all live rooms and their sum.
public struct ViewershipTotalsResource: Codable, Sendable, Hashable {
    /// All rooms together.
    public var total: ViewershipSumResource
    /// By name.
    public var rooms: [ViewershipResource]
    /// The moment the numbers are of.
    public var asOf: Timestamp

    /// Makes an answer.
    public init(total: ViewershipSumResource, rooms: [ViewershipResource], asOf: Timestamp) {
        self.total = total
        self.rooms = rooms
        self.asOf = asOf
    }

    private enum CodingKeys: String, CodingKey {
        case total
        case rooms
        case asOf = "as_of"
    }
}
