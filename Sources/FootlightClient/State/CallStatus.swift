public import Stage

/// The state of a call as observers see it.
public struct CallStatus: Sendable, Equatable {
    /// The phase of the call.
    public var phase: CallPhase
    /// Whether a join was ever attempted; after that the phase is never `idle` again.
    public var wasAttempted: Bool

    /// Creates a status; that of a new client by default.
    public init(phase: CallPhase = .idle, wasAttempted: Bool = false) {
        self.phase = phase
        self.wasAttempted = wasAttempted
    }

    /// The error that ended the last attempt; nil without one.
    public var error: StageError? {
        if case .left(let error) = phase { error } else { nil }
    }

    /// The status as Daily's `CallState`.
    public var callState: CallState { CallState(self) }
    /// The status as Stream's `CallingState`.
    public var callingState: CallingState { CallingState(self) }
    /// The status as Twilio's `Room.State`.
    public var roomState: RoomState { RoomState(self) }
    /// The status as VideoSDK's `MeetingState`; nil before a join.
    public var meetingState: MeetingState? { MeetingState(self) }
}

/// The phase of one participant's call; the states of all source systems derive from it.
public enum CallPhase: Sendable, Equatable {
    /// Before the first attempt.
    case idle
    /// Shows a room before the join.
    case lobby(LobbyInfo)
    /// An invitation rings.
    case incoming(CallInvitation)
    /// Own invitations ring.
    case outgoing(CallRing)
    /// A join is pending.
    case joining
    /// In the room.
    case joined
    /// In the room, with a connection that is being restored.
    case reconnecting(ConnectionLoss)
    /// Leaving.
    case leaving
    /// Left; with the error that ended the call, or nil when the user ended it.
    case left(StageError?)
}

/// The lost part of a connection; the raw value is the code of the reconnect reason.
public enum ConnectionLoss: Int, Sendable, Hashable {
    /// The event stream.
    case signalling = 53001
    /// The media this participant publishes.
    case media = 53405
}

/// The method of restoring a connection.
public enum ReconnectMethod: Sendable, Hashable {
    /// Reopens the event stream at the last revision; missed events are replayed.
    case resume
    /// Requests a new session and the room's whole state.
    case rejoin
}

/// A call's state as Daily's `CallState`.
public enum CallState: String, Sendable, Hashable, Codable, CaseIterable {
    case initialized
    case joining
    case joined
    case leaving
    case left

    /// Maps a status; before the first attempt every state other than a call is `initialized`.
    public init(_ status: CallStatus) {
        self =
            switch status.phase {
            case .idle: .initialized
            case .lobby, .incoming, .outgoing: status.wasAttempted ? .left : .initialized
            case .joining: .joining
            case .joined, .reconnecting: .joined
            case .leaving: .leaving
            case .left: .left
            }
    }
}

/// A call's state as Stream's `CallingState`.
public enum CallingState: Sendable, Equatable {
    case idle
    case lobby(LobbyInfo)
    case incoming(CallInvitation)
    case outgoing
    case joining
    case inCall
    case reconnecting

    /// Maps a status; a call that ends or has ended is `idle`, and the status holds the error.
    public init(_ status: CallStatus) {
        self =
            switch status.phase {
            case .idle, .leaving, .left: .idle
            case .lobby(let info): .lobby(info)
            case .incoming(let invitation): .incoming(invitation)
            case .outgoing: .outgoing
            case .joining: .joining
            case .joined: .inCall
            case .reconnecting: .reconnecting
            }
    }
}

/// A call's state as VideoSDK's `MeetingState`.
public enum MeetingState: String, Sendable, Hashable, Codable, CaseIterable {
    case connecting = "CONNECTING"
    case connected = "CONNECTED"
    case reconnecting = "RECONNECTING"
    case disconnected = "DISCONNECTED"
    case failed = "FAILED"

    /// Maps a status; nil while VideoSDK has no meeting.
    public init?(_ status: CallStatus) {
        switch status.phase {
        case .idle, .lobby, .incoming, .outgoing: return nil
        case .joining: self = .connecting
        case .joined: self = .connected
        case .reconnecting: self = .reconnecting
        case .leaving, .left(nil): self = .disconnected
        case .left: self = .failed
        }
    }
}

/// A call's state as Twilio's `Room.State`.
public enum RoomState: String, Sendable, Hashable, Codable, CaseIterable {
    case connecting
    case connected
    case disconnected
    case reconnecting

    /// Maps a status.
    public init(_ status: CallStatus) {
        self =
            switch status.phase {
            case .idle, .lobby, .incoming, .outgoing, .leaving, .left: .disconnected
            case .joining: .connecting
            case .joined: .connected
            case .reconnecting: .reconnecting
            }
    }
}
