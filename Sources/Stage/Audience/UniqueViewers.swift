/// Distinct viewers of a broadcast.
public struct UniqueViewers: Sendable, Equatable, Codable {
    /// Viewers by the subject of a token.
    public var users: Int
    /// Viewers by token, by device id, or else by session: an upper bound.
    public var devices: Int
    /// Viewers estimated by address and player; the same viewer on two days counts twice.
    public var estimated: Int
    /// Whether a count is an estimate of a sketch, to 0.81 %.
    public var isApproximate: Bool

    /// Creates counts.
    public init(users: Int = 0, devices: Int = 0, estimated: Int = 0, isApproximate: Bool = false) {
        self.users = users
        self.devices = devices
        self.estimated = estimated
        self.isApproximate = isApproximate
    }

    /// Adds the counts of another room; a viewer of both counts twice.
    public static func += (left: inout UniqueViewers, right: UniqueViewers) {
        left.users += right.users
        left.devices += right.devices
        left.estimated += right.estimated
        left.isApproximate = left.isApproximate || right.isApproximate
    }
}
