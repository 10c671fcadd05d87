/// Distinct viewers of a broadcast.
public struct UniqueViewers: Sendable, Equatable, Codable {
    /// By the subject of a token.
    public var users: Int
    /// By token, by the device's own id, or else by session: never less than there were.
    public var devices: Int
    /// By address and player, an estimate; viewers of two days are two.
    public var estimated: Int
    /// One of them is the estimate of a sketch, to 0.81 %.
    public var isApproximate: Bool

    /// Figures as given.
    public init(users: Int = 0, devices: Int = 0, estimated: Int = 0, isApproximate: Bool = false) {
        self.users = users
        self.devices = devices
        self.estimated = estimated
        self.isApproximate = isApproximate
    }

    /// Adds those of another room: nobody is followed from one to another, so whoever was in both is two.
    static func += (left: inout UniqueViewers, right: UniqueViewers) {
        left.users += right.users
        left.devices += right.devices
        left.estimated += right.estimated
        left.isApproximate = left.isApproximate || right.isApproximate
    }
}

/// What `UniqueViewers` is counted with.
public struct UniqueCounters: Sendable {
    private var users: UniqueCounter
    private var devices: UniqueCounter
    private var estimated: UniqueCounter

    /// Nobody; beyond `limit` of a kind, or else a million, the count is an estimate.
    public init(limit: Int? = nil) {
        users = UniqueCounter(limit: limit ?? UniqueCounter.exactLimit)
        devices = users
        estimated = users
    }

    /// A session was proven to watch.
    ///
    /// - Parameters: hashes of who watched; nil for what is not known.
    public mutating func insert(viewer: UInt64?, isUser: Bool, estimate: UInt64?, session: UInt64) {
        if isUser, let viewer { users.insert(viewer) }
        devices.insert(viewer ?? session)
        estimated.insert(estimate ?? viewer ?? session)
    }

    /// How many there were.
    public var figures: UniqueViewers {
        UniqueViewers(
            users: users.count,
            devices: devices.count,
            estimated: estimated.count,
            isApproximate: users.isApproximate || devices.isApproximate || estimated.isApproximate
        )
    }
}
