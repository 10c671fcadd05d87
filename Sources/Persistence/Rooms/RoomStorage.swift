import Foundation
import Stage

/// The rooms in a database.
public protocol RoomStorage: RecordStorage {
    /// Writes and deletes rooms, and deletes ended rooms beyond the limits.
    ///
    /// The rooms that the result does not name are on disk, each of them completely.
    ///
    /// - Parameter changes: Returns the rooms to write, at the time of writing; all rooms if the database lacks them.
    func write(_ changes: (_ isFullWrite: Bool) -> RoomChanges) throws(StoreFault) -> RoomWriteResult

    /// Loads all rooms, ordered by the date of their last change.
    func load() throws(StoreFault) -> [StoredRoom]

    /// Loads a room that this gateway owns; nil if it was never written.
    ///
    /// - Throws: `unavailable` also if the server does not know that this gateway owns the room: it may be outdated.
    func load(_ sid: String) throws(StoreFault) -> StoredRoom?
}

/// Rooms to write and to delete, and the limits of ended ones.
public struct RoomChanges: Sendable {
    /// The rooms to write.
    public var rooms: [StoredRoom]
    /// The sids of the rooms to delete.
    public var removed: [String]
    /// The maximum number of ended rooms; the oldest are deleted first.
    public var maximumEnded: Int
    /// The time in seconds since 1970 before which an ended room is deleted.
    public var endedSince: Double

    /// Creates changes.
    public init(rooms: [StoredRoom], removed: [String] = [], maximumEnded: Int = 100, endedSince: Double = 0) {
        self.rooms = rooms
        self.removed = removed
        self.maximumEnded = maximumEnded
        self.endedSince = endedSince
    }
}

/// The rooms of a write that are not on disk, although the database answered.
public struct RoomWriteResult: Sendable, Hashable {
    /// The rooms that another gateway owns by now.
    public var refused: Set<String> = []
    /// The rooms whose write may succeed later, each with the reason.
    public var delayed: [String: String] = [:]

    /// Creates the result of a write that succeeded for all rooms.
    public init() {}
}

/// One row of the `room` table.
public struct StoredRoom: Sendable, Equatable {
    /// The room's sid, unique in the database.
    public var sid: String
    /// The room's name.
    public var name: String
    /// The raw value of the room's `RoomStatus`.
    public var status: String
    /// Seconds since 1970.
    public var updatedAt: Double
    /// Seconds since 1970; nil while in progress.
    public var endedAt: Double?
    /// The `RoomRecord` as JSON.
    public var record: String

    /// Creates a row.
    public init(
        sid: String,
        name: String,
        status: String,
        updatedAt: Double,
        endedAt: Double? = nil,
        record: String
    ) {
        self.sid = sid
        self.name = name
        self.status = status
        self.updatedAt = updatedAt
        self.endedAt = endedAt
        self.record = record
    }
}

extension StoredRoom {
    init(_ record: RoomRecord) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        self.init(
            sid: record.sid,
            name: record.settings.name,
            status: record.status.rawValue,
            updatedAt: record.updatedAt,
            endedAt: record.endedAt,
            record: String(decoding: try encoder.encode(record), as: UTF8.self)
        )
    }

    func decoded() throws -> RoomRecord {
        let room = try JSONDecoder().decode(RoomRecord.self, from: Data(record.utf8))
        try room.validate()
        return room
    }
}

/// The rooms of a gateway that runs alone: it owns them all.
extension StoreConnection: RoomStorage where Schema == RoomDatabase {
    func write(_ changes: (_ isFullWrite: Bool) -> RoomChanges) throws(StoreFault) -> RoomWriteResult {
        try perform { (database) throws(StoreFault) in
            let isFullWrite = needsFullWrite
            try database.save(changes(isFullWrite))
            if isFullWrite { fullWriteCompleted() }
        }
        return RoomWriteResult()
    }

    func load() throws(StoreFault) -> [StoredRoom] {
        try load { (database) throws(StoreFault) in try database.load() }
    }

    func load(_ sid: String) throws(StoreFault) -> StoredRoom? {
        try perform { (database) throws(StoreFault) in try database.load(sid) }
    }
}
