/// A ticket: a link that admits its holder to a room's program.
public struct TicketResource: Codable, Sendable, Hashable {
    /// `TK…`.
    public var id: String
    /// The room's unique name.
    public var room: String
    /// The name that the operator gave it.
    public var name: String
    /// The number of devices that may watch with it at once.
    public var devices: Int
    /// The number of devices that watch with it now.
    public var watching: Int
    /// The start of its validity; null from the beginning.
    @ExplicitNull public var startsAt: Timestamp?
    /// The end of its validity.
    public var expiresAt: Timestamp
    /// The time of creation.
    public var dateCreated: Timestamp
    /// The time of revocation; null if it is not revoked.
    @ExplicitNull public var revokedAt: Timestamp?
    /// The text that links have as `ticket`; a secret of its holder.
    public var ticket: String
    /// The watch page with the ticket.
    public var url: String
    /// The playback URLs with the ticket, for players.
    public var playback: PlaybackResource

    /// Makes a description.
    public init(
        id: String,
        room: String,
        name: String,
        devices: Int,
        watching: Int,
        startsAt: Timestamp?,
        expiresAt: Timestamp,
        dateCreated: Timestamp,
        revokedAt: Timestamp?,
        ticket: String,
        url: String,
        playback: PlaybackResource
    ) {
        self.id = id
        self.room = room
        self.name = name
        self.devices = devices
        self.watching = watching
        self.startsAt = startsAt
        self.expiresAt = expiresAt
        self.dateCreated = dateCreated
        self.revokedAt = revokedAt
        self.ticket = ticket
        self.url = url
        self.playback = playback
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case room
        case name
        case devices
        case watching
        case startsAt = "starts_at"
        case expiresAt = "expires_at"
        case dateCreated = "date_created"
        case revokedAt = "revoked_at"
        case ticket
        case url
        case playback
    }
}

/// Tickets of a room: new ones, or a page of all.
public struct TicketList: Codable, Sendable, Hashable {
    /// By date of creation.
    public var tickets: [TicketResource]
    /// The next page; absent for new tickets.
    public var meta: PageResource?

    /// Makes a list.
    public init(tickets: [TicketResource], meta: PageResource? = nil) {
        self.tickets = tickets
        self.meta = meta
    }
}

/// The body of `POST /v1/rooms/{room}/tickets`.
public struct CreateTicketsBody: Codable, Sendable, Hashable {
    /// The number of tickets, 1 to 1000; 1 when omitted.
    public var count: Int?
    /// Their name, at most 200 bytes; empty when omitted.
    public var name: String?
    /// The number of devices that may watch with each at once, 1 to 100; 1 when omitted.
    public var devices: Int?
    /// The start of their validity; from the beginning when omitted.
    public var startsAt: Timestamp?
    /// The end of their validity, in the next two years.
    public var expiresAt: Timestamp

    /// Makes a body; what is left out is nil.
    public init(
        count: Int? = nil,
        name: String? = nil,
        devices: Int? = nil,
        startsAt: Timestamp? = nil,
        expiresAt: Timestamp
    ) {
        self.count = count
        self.name = name
        self.devices = devices
        self.startsAt = startsAt
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case count
        case name
        case devices
        case startsAt = "starts_at"
        case expiresAt = "expires_at"
    }
}
