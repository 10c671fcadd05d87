public import Stage

/// A request to join a room.
public struct CallJoin: Sendable, Hashable {
    /// The room.
    public var room: String
    /// The kind of call; `default` lets anyone join.
    public var callType: String
    /// The requested mode.
    public var mode: ParticipantMode
    /// The invitation that permits the join; nil when none is needed.
    public var invitation: String?

    /// Creates a request.
    public init(
        room: String,
        callType: String = "default",
        mode: ParticipantMode = .sendAndReceive,
        invitation: String? = nil
    ) {
        self.room = room
        self.callType = callType
        self.mode = mode
        self.invitation = invitation
    }
}

/// A request to invite participants and to join once one accepts.
public struct CallRing: Sendable, Hashable {
    /// The join that follows.
    public var join: CallJoin
    /// The identities to invite.
    public var invitees: [String]
    /// The ringing time in seconds, 0 to 86 400.
    public let timeout: Int

    /// Creates a request; `timeout` is clamped to its range.
    public init(join: CallJoin, invitees: [String], timeout: Int = 30) {
        self.join = join
        self.invitees = invitees
        self.timeout = min(max(timeout, 0), 86_400)
    }
}

/// An invitation as its invitee receives it.
public struct CallInvitation: Sendable, Hashable {
    /// `IN` and 32 hexadecimal digits.
    public var sid: String
    /// The room, spelled as in `CallJoin`.
    public var room: String
    /// The inviter's identity.
    public var inviter: String
    /// The mode that acceptance permits.
    public var mode: ParticipantMode
    /// The ringing time in seconds, 0 to 86 400.
    public let timeout: Int

    /// Creates an invitation; `timeout` is clamped to its range.
    public init(
        sid: String,
        room: String,
        inviter: String,
        mode: ParticipantMode = .sendAndReceive,
        timeout: Int = 30
    ) {
        self.sid = sid
        self.room = room
        self.inviter = inviter
        self.mode = mode
        self.timeout = min(max(timeout, 0), 86_400)
    }
}

/// An invitee's response to an invitation.
public struct InvitationAnswer: Sendable, Hashable {
    /// The invitation.
    public var sid: String
    /// The room of the invitation.
    public var room: String
    /// The invitee's identity.
    public var identity: String

    /// Creates a response.
    public init(sid: String, room: String, identity: String) {
        self.sid = sid
        self.room = room
        self.identity = identity
    }
}

/// The data that is shown of a room before the join.
public struct LobbyInfo: Sendable, Hashable {
    /// The room.
    public var callID: String
    /// The kind of call; `default` lets anyone join.
    public var callType: String
    /// The identities expected in the call.
    public var participants: [String]

    /// Creates the data.
    public init(callID: String, callType: String = "default", participants: [String] = []) {
        self.callID = callID
        self.callType = callType
        self.participants = participants
    }
}
