import Stage

/// One number for each way a viewing ends.
struct PerReason: Tally {
    static let allReasons: [AudienceEvent.CloseReason] = [.left, .timedOut, .tooSlow, .roomEnded, .shutdown]
    static let zero = PerReason()

    private var left = 0
    private var timedOut = 0
    private var tooSlow = 0
    private var roomEnded = 0
    private var shutdown = 0

    /// Where the reason is in the list of all.
    static func place(of reason: AudienceEvent.CloseReason) -> Int {
        switch reason {
        case .left: 0
        case .timedOut: 1
        case .tooSlow: 2
        case .roomEnded: 3
        case .shutdown: 4
        }
    }

    var sum: Int { left + timedOut + tooSlow + roomEnded + shutdown }

    subscript(reason: AudienceEvent.CloseReason) -> Int {
        get {
            switch reason {
            case .left: left
            case .timedOut: timedOut
            case .tooSlow: tooSlow
            case .roomEnded: roomEnded
            case .shutdown: shutdown
            }
        }
        set {
            switch reason {
            case .left: left = newValue
            case .timedOut: timedOut = newValue
            case .tooSlow: tooSlow = newValue
            case .roomEnded: roomEnded = newValue
            case .shutdown: shutdown = newValue
            }
        }
    }

    mutating func add(_ other: PerReason, times factor: Int) {
        for reason in Self.allReasons { self[reason] += factor * other[reason] }
    }
}
