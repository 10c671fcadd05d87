import DequeModule

/// The sessions that ended of late and why, the oldest forgotten first.
struct DepartedSessions: Sendable {
    /// Sessions that are remembered.
    static let capacity = 256

    private var reasons: [String: LeaveReason] = [:]
    private var order: Deque<String> = []

    var count: Int { reasons.count }

    mutating func add(_ sessionID: String, _ reason: LeaveReason) {
        guard reasons.updateValue(reason, forKey: sessionID) == nil else { return }
        order.append(sessionID)
        if order.count > Self.capacity, let oldest = order.popFirst() { reasons[oldest] = nil }
    }

    /// Why a session ended; nil for one that is unknown or forgotten.
    func reason(of sessionID: String) -> LeaveReason? {
        reasons[sessionID]
    }
}
