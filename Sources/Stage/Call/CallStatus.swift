/// What everybody who watches a call sees of it, at one moment.
public struct CallStatus: Sendable, Equatable {
    /// Where the call stands.
    public var phase: CallPhase
    /// Whether a join was ever tried; from then on the phase is never `idle` again.
    public var wasAttempted: Bool

    /// Makes a status; one of a new client by default.
    public init(phase: CallPhase = .idle, wasAttempted: Bool = false) {
        self.phase = phase
        self.wasAttempted = wasAttempted
    }

    /// The error that ended the last attempt; nil while there is none.
    public var error: StageError? {
        if case .left(let error) = phase { error } else { nil }
    }

    /// The status in Daily's words.
    public var callState: CallState { CallState(self) }
    /// The status in Stream's words.
    public var callingState: CallingState { CallingState(self) }
    /// The status in Twilio's words.
    public var roomState: RoomState { RoomState(self) }
    /// The status in VideoSDK's words; nil before a join.
    public var meetingState: MeetingState? { MeetingState(self) }
}
