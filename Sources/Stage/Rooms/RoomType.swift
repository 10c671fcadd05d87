/// What kind of call a room is, which decides who may join, who may speak, and who may stream.
///
/// To speak is to be in SEND_AND_RECV, to stream is to start and stop the livestream and HLS. A type takes away and never
/// gives: what a token does not grant no type grants either. Operators may do everything in every room, and tokens with
/// the right `participants` join and speak as far as they go. Everybody in the audience may raise a hand.
///
/// | type | who joins | who speaks | who streams |
/// |---|---|---|---|
/// | `default` | anyone with a token | whose token says so, and who is invited or accepted | tokens with `streaming` |
/// | `livestream` | anyone with a token, as audience | who is invited or accepted | tokens with `streaming` |
/// | `audio_room` | anyone with a token, as audience | who is invited or accepted | operators |
/// | `private` | who has accepted an invitation | as `default` | tokens with `streaming` |
///
/// Who plays the program without being a participant is not asked.
public enum RoomType: String, Sendable, Hashable, Codable, CaseIterable {
    case `default`
    case livestream
    case audioRoom = "audio_room"
    case `private`

    /// Whether only those join who have accepted an invitation.
    public var needsInvitationToJoin: Bool { self == .private }

    /// Whether only those speak who were invited to, or whose raised hand was accepted.
    public var needsPermissionToSpeak: Bool { self == .livestream || self == .audioRoom }

    /// Whether only operators stream.
    public var isStreamedByOperators: Bool { self == .audioRoom }
}
