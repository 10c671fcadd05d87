import Foundation
import Stage

/// One row of the database.
struct StoredRoom: Sendable, Equatable {
    var sid: String
    var name: String
    var status: String
    /// Seconds since 1970.
    var updatedAt: Double
    /// Seconds since 1970; nil while in progress.
    var endedAt: Double?
    /// The whole record as JSON.
    var record: String
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
