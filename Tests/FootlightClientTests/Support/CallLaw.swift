import Stage

/// The steps between phases that the transitions U1 to U20 allow.
enum CallLaw {
    /// The first step in a history that no transition makes; nil when all are lawful.
    static func breach(in statuses: [CallStatus]) -> String? {
        for (before, after) in zip(statuses, statuses.dropFirst()) where !allows(before.phase, after.phase) {
            return "\(before.phase) -> \(after.phase)"
        }
        if let first = statuses.firstIndex(where: { $0.callState != .initialized }),
            statuses[first...].contains(where: { $0.callState == .initialized })
        {
            return "initialized again"
        }
        let isIn: (CallStatus) -> Bool = { status in
            switch status.callingState {
            case .inCall, .reconnecting: true
            default: false
            }
        }
        return statuses.contains { ($0.callState == .joined) != isIn($0) } ? "joined in one vocabulary alone" : nil
    }

    private static func allows(_ before: CallPhase, _ after: CallPhase) -> Bool {
        switch (before, after) {
        // U1, U3, U6, U9; a join may also fail before it was ever sent.
        case (.idle, .lobby), (.idle, .incoming), (.idle, .outgoing), (.idle, .joining): true
        case (.left, .lobby), (.left, .incoming), (.left, .outgoing), (.left, .joining): true
        // U2, U6, U9.
        case (.lobby, .idle), (.lobby, .left(nil)), (.lobby, .outgoing), (.lobby, .joining): true
        // U4, U5.
        case (.incoming, .joining), (.incoming, .idle), (.incoming, .left): true
        // U7, U8.
        case (.outgoing, .joining), (.outgoing, .idle), (.outgoing, .left): true
        // U10, U11, U12.
        case (.joining, .joined), (.joining, .left(.some)), (.joining, .leaving): true
        // U13, U16, U18.
        case (.joined, .reconnecting), (.joined, .leaving), (.joined, .left(.some)): true
        // The other one of two losses, once the first is back.
        case (.reconnecting(let former), .reconnecting(let loss)): former != loss
        // U14, U15, U16.
        case (.reconnecting, .joined), (.reconnecting, .left(.some)), (.reconnecting, .leaving): true
        // U17.
        case (.leaving, .left(nil)): true
        default: false
        }
    }
}
