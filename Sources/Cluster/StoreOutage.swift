public import Media

/// Decides what a node does when the store does not answer.
///
/// Either the store is gone for all nodes, or this node is cut off from it. The distinction matters because only in the
/// second case others take over its rooms.
public struct StoreOutage: Sendable, Hashable {
    /// What another node reported directly.
    public struct PeerReport: Sendable, Hashable {
        /// The other node.
        public var node: String
        /// The time of this node's clock at which the report arrived.
        public var receivedAt: MonotonicTime
        /// The milliseconds from the other node's latest acknowledged write to its report; nil without one.
        public var acknowledgedAge: Int64?

        /// Makes a report.
        public init(node: String, receivedAt: MonotonicTime, acknowledgedAge: Int64?) {
            self.node = node
            self.receivedAt = receivedAt
            self.acknowledgedAge = acknowledgedAge
        }
    }

    /// The state of the store as a node sees it.
    public enum State: Sendable, Hashable, CaseIterable {
        /// The node's own writes are acknowledged.
        case available
        /// Others reach the store and this node does not: they take over its rooms.
        case isolated
        /// No node reaches the store, as far as the majority of them reports.
        case unavailable
        /// Neither the store nor the majority of nodes answers.
        case alone
    }

    /// What to do about outputs while a node is alone.
    public enum AlonePolicy: String, Sendable, Hashable, CaseIterable {
        /// Outputs go on: silence is worse than two programs at one destination.
        case keep
        /// Outputs stop: two programs at one destination are worse than silence.
        case stop
    }

    /// What a node does.
    public struct Conduct: Sendable, Hashable {
        /// Whether the rooms of this node go on with their mixers and viewers; if not, they are released.
        public var keepsRooms: Bool
        /// Whether outputs and recordings go on.
        public var keepsOutputs: Bool
        /// Whether new rooms are accepted, and rooms of other nodes taken over.
        public var acceptsRooms: Bool
    }

    /// The durations of the lease.
    public var configuration: LeaseConfiguration
    /// What to do about outputs while the node is alone.
    public var alonePolicy: AlonePolicy

    /// Makes the decision's settings.
    public init(configuration: LeaseConfiguration = .init(), alonePolicy: AlonePolicy = .keep) {
        self.configuration = configuration
        self.alonePolicy = alonePolicy
    }

    /// Returns the state of the store.
    ///
    /// - Parameters:
    ///   - acknowledgedAt: The time at which this node's latest acknowledged write was sent; nil without one.
    ///   - unansweredSince: The time at which the first write after it was sent; nil without one.
    ///   - reports: The latest report of each other node.
    ///   - nodeCount: The number of nodes last known, with this one.
    public func state(
        acknowledgedAt: MonotonicTime?,
        unansweredSince: MonotonicTime?,
        reports: [PeerReport],
        nodeCount: Int,
        at now: MonotonicTime
    ) -> State {
        let timeToLive = configuration.timeToLive
        if let acknowledgedAt, now <= acknowledgedAt.advanced(milliseconds: timeToLive) { return .available }
        let current = reports.filter { now <= $0.receivedAt.advanced(milliseconds: timeToLive) }
        // When the store fails for all, the last writes of others can still be later than this node's last one, by what
        // was under way at that moment. Only a write that was sent a whole request later shows that the store answers.
        if let unansweredSince {
            let bound = unansweredSince.advanced(milliseconds: configuration.requestTimeout)
            let storeAnswers = current.contains { report in
                guard let age = report.acknowledgedAge, age >= 0, age <= timeToLive else { return false }
                return report.receivedAt.advanced(milliseconds: -age) > bound
            }
            if storeAnswers { return .isolated }
        }
        let answering = Set(current.map(\.node)).count + 1
        return answering * 2 > nodeCount ? .unavailable : .alone
    }

    /// Returns what to do in a state.
    public func conduct(in state: State) -> Conduct {
        switch state {
        case .available: Conduct(keepsRooms: true, keepsOutputs: true, acceptsRooms: true)
        case .isolated: Conduct(keepsRooms: false, keepsOutputs: false, acceptsRooms: false)
        case .unavailable: Conduct(keepsRooms: true, keepsOutputs: true, acceptsRooms: false)
        case .alone: Conduct(keepsRooms: true, keepsOutputs: alonePolicy == .keep, acceptsRooms: false)
        }
    }
}
