public import Stage

/// Which screen shows a call.
public enum MeetingScreen: Sendable, Hashable {
    /// Name, devices and address before a call.
    case join
    /// In the call, alone.
    case waiting
    /// In the call, with others.
    case grid

    /// Reads the screen from where the call stands and how many are in it, oneself included.
    public init(_ state: CallState, count: Int) {
        switch state {
        case .joining, .joined: self = count > 1 ? .grid : .waiting
        case .initialized, .leaving, .left: self = .join
        }
    }
}
