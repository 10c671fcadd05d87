/// One broadcast of a room, and what is known of it as a whole; times in milliseconds since 1970.
public struct BroadcastRow: Sendable, Equatable {
    /// Names it; later ones have higher numbers.
    public var epoch: Int64
    /// The room's unique name.
    public var room: String
    /// The room's sid on the stage; empty where there was none.
    public var roomSID: String
    /// When it began.
    public var began: Int64
    /// Nil while it lasts.
    public var ended: Int64?
    /// Milliseconds that the program was on.
    public var onAir: Int64
    /// The most that counted at once, provisional.
    public var peak: Int
    /// When the peak was reached; nil before the first viewer.
    public var peakAt: Int64?
    /// Distinct viewers.
    public var uniques: UniqueViewers
    /// Sessions that joined and whose players reported of themselves.
    public var heard: Int
    /// Ids that were handed out and never seen again.
    public var unseen: Int
    /// Sessions and requests that never counted, in the order of `Exclusion.allCases`.
    public var excluded: [Int]

    /// A row.
    public init(
        epoch: Int64,
        room: String,
        roomSID: String = "",
        began: Int64,
        ended: Int64? = nil,
        onAir: Int64 = 0,
        peak: Int = 0,
        peakAt: Int64? = nil,
        uniques: UniqueViewers = .init(),
        heard: Int = 0,
        unseen: Int = 0,
        excluded: [Int] = Exclusion.allCases.map { _ in 0 }
    ) {
        self.epoch = epoch
        self.room = room
        self.roomSID = roomSID
        self.began = began
        self.ended = ended
        self.onAir = onAir
        self.peak = peak
        self.peakAt = peakAt
        self.uniques = uniques
        self.heard = heard
        self.unseen = unseen
        self.excluded = excluded
    }
}
