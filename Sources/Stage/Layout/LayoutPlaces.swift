/// Who sat where in a room's picture the last time it was planned; a new plan moves as few as it can.
public struct LayoutPlaces: Sendable, Hashable, Codable {
    /// Sids by place in the grid; kept up whatever the arrangement, so that the grid is the same after another one.
    public internal(set) var seats: [String]
    /// The arrangement that `main` and `others` are of.
    public internal(set) var kind: LayoutSettings.Kind?
    /// The sid in the large tile; nil without one.
    public internal(set) var main: String?
    /// Sids beside the large tile, or without one where not everybody in the grid is shown.
    public internal(set) var others: [String]
    /// The sid of who came last when places last changed hands by turns; nil while they never did.
    public internal(set) var lastInTurn: String?
    /// When each sid last came into view, by a count of such moments; nil as long as everybody was in view.
    public internal(set) var cameIntoView: [String: Int]?

    /// Nobody has a place yet.
    public init() {
        seats = []
        main = nil
        others = []
    }

    /// Gives one's place to somebody else.
    mutating func replace(_ old: String, with new: String) {
        seats = seats.map { $0 == old ? new : $0 }
        others = others.map { $0 == old ? new : $0 }
        if main == old { main = new }
        if let moment = cameIntoView?.removeValue(forKey: old) { cameIntoView?[new] = moment }
        if lastInTurn == old { lastInTurn = new }
    }
}
