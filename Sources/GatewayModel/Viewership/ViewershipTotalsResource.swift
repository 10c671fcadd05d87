/// The answer of `GET /v1/viewership`: all live rooms and their sum, of one moment.
public struct ViewershipTotalsResource: Codable, Sendable, Hashable {
    /// All rooms together; its `room` is empty, and its peak is of the sum.
    public var total: ViewershipResource
    /// The fullest first.
    public var rooms: [ViewershipResource]

    /// Makes an answer.
    public init(total: ViewershipResource, rooms: [ViewershipResource]) {
        self.total = total
        self.rooms = rooms
    }

    private enum CodingKeys: String, CodingKey {
        case total
        case rooms
    }
}
