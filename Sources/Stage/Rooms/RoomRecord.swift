/// Everything of a room that must outlive the process.
public struct RoomRecord: Sendable, Equatable, Codable {
    /// `RM` and 32 hexadecimal digits.
    public var sid: String
    /// What the operator decided, the present layout included.
    public var settings: RoomSettings
    /// Whether it can be joined.
    public var status: RoomStatus
    /// Whether the hosts prepare and the audience does not see them.
    public var isBackstage: Bool
    /// The revision of the latest event.
    public var revision: UInt64
    /// Seconds since 1970.
    public var createdAt: Double
    /// Seconds since 1970.
    public var updatedAt: Double
    /// Seconds since 1970; nil while the room is in progress.
    public var endedAt: Double?
    /// Whether anybody ever joined; nil in records that do not say.
    public var wasJoined: Bool?
    /// Whether the audience ever saw or heard a host; nil in records that do not say.
    public var wasOnAir: Bool?
    /// In join order.
    public var participants: [ParticipantRecord]
    /// Who sits where in the picture.
    public var places: LayoutPlaces
    /// Pins for everybody and for single views.
    var pins: PinBoard
    /// Invitations, the answered ones included.
    var invitations: InvitationBook
    /// The hands that are up; nil in records that do not say.
    var hands: RaisedHands?
    /// The digests of the hosts' keys.
    public var keys: [StreamKeyRecord]
}

extension RoomRecord {
    /// Revisions that no room reaches; one that is stored higher is damage, and could not be counted on from.
    private static let mostRevisions: UInt64 = 1 << 53

    /// Checks that no number that is read from a database is beyond all measure.
    ///
    /// With such as nobody can have stored, the process would end as soon as something is added to it. What was allowed
    /// once and is not any more passes: no room is lost by an upgrade.
    ///
    /// - Throws: 3073 naming what is at fault.
    public func validate() throws(StageError) {
        let program = settings.program
        try StageError.check(program.keyInterval, in: 1...3600, field: "program.key_interval")
        try StageError.check(settings.layout.gridSize, in: 1...1000, field: "layout.grid_size")
        var numbers = [
            program.width, program.height, program.videoBitrate, program.audioBitrate, program.jitterTarget,
            settings.maximumParticipants, settings.maximumHosts, settings.emptyTimeout, settings.unusedTimeout,
            settings.linger ?? 0, settings.maximumAudience ?? 0,
            settings.layout.transition, settings.sound.jitterTarget ?? 0,
        ]
        for rendition in program.ladder?.renditions ?? [] {
            numbers += [rendition.width, rendition.height, rendition.videoBitrate]
        }
        for settings in participants.map(\.callSettings) {
            numbers += [settings.maximumBitrate, settings.width, settings.height].compactMap(\.self)
        }
        for number in numbers { try StageError.check(number, in: 0...1_000_000_000, field: "settings") }
        guard revision <= Self.mostRevisions, participants.allSatisfy({ $0.revision <= Self.mostRevisions }) else {
            throw .invalidParameter("revision", "must be at most \(Self.mostRevisions)")
        }
        for time in [createdAt, updatedAt, endedAt ?? 0] + participants.map(\.joinedAt) {
            try StageError.check(time, in: -1e11...1e11, field: "created_at")
        }
    }

    /// The sids of rooms in progress that share their name with a newer one in progress.
    ///
    /// Only one of them can be the room of that name; so it comes about when the end of the older could not be stored.
    public static func superseded(in records: [RoomRecord]) -> Set<String> {
        var newest: [String: RoomRecord] = [:]
        var superseded: Set<String> = []
        for record in records where record.status == .inProgress {
            guard let other = newest[record.settings.name] else {
                newest[record.settings.name] = record
                continue
            }
            guard other.sid != record.sid else { continue }
            let isNewer = (record.createdAt, record.updatedAt) > (other.createdAt, other.updatedAt)
            superseded.insert(isNewer ? other.sid : record.sid)
            if isNewer { newest[record.settings.name] = record }
        }
        return superseded
    }
}
