import Foundation
import GRDB
import Stage
import Viewership

// How the rows of the history are read from the database.

extension BroadcastRow {
    init(_ row: Row) throws {
        try self.init(
            epoch: row.decode(forColumn: "epoch"),
            room: row.decode(forColumn: "room"),
            roomSID: row.decode(forColumn: "room_sid"),
            began: row.decode(forColumn: "began"),
            ended: row.decode(forColumn: "ended"),
            onAir: row.decode(forColumn: "on_air"),
            peak: row.decode(forColumn: "peak"),
            peakAt: row.decode(forColumn: "peak_at"),
            uniques: UniqueViewers(
                users: row.decode(forColumn: "users"),
                devices: row.decode(forColumn: "devices"),
                estimated: row.decode(forColumn: "estimated"),
                isApproximate: row.decode(forColumn: "approximate")
            ),
            heard: row.decode(forColumn: "heard"),
            unseen: row.decode(forColumn: "unseen"),
            excluded: row.decode(String.self, forColumn: "excluded").split(separator: " ").map { Int($0) ?? 0 }
        )
    }
}

extension Dimensions {
    /// Nil in the row of a whole room.
    init?(_ row: Row) throws {
        guard let playback = PlaybackProtocol(rawValue: try row.decode(forColumn: "protocol")) else { return nil }
        try self.init(
            playback: playback,
            rendition: row.decode(forColumn: "rendition"),
            region: row.decode(forColumn: "region"),
            client: ClientClass(rawValue: row.decode(forColumn: "client")) ?? .unknown
        )
    }
}

extension MinuteRow {
    init(_ row: Row) throws {
        try self.init(
            key: Key(
                room: row.decode(forColumn: "room"),
                epoch: row.decode(forColumn: "epoch"),
                minute: row.decode(forColumn: "minute"),
                dimensions: Dimensions(row)
            ),
            watched: row.decode(forColumn: "watched"),
            aired: row.decode(forColumn: "aired"),
            joins: row.decode(forColumn: "joins"),
            leaves: ["gone", "timed_out", "too_slow", "room_ended", "shutdown"].map { try row.decode(forColumn: $0) },
            switches: row.decode(forColumn: "switches"),
            stalled: row.decode(forColumn: "stalled"),
            startup: row.decode(forColumn: "startup"),
            startups: row.decode(forColumn: "startups"),
            minimum: row.decode(forColumn: "least"),
            maximum: row.decode(forColumn: "most"),
            last: row.decode(forColumn: "last")
        )
    }
}

extension LastHits {
    init(_ row: Row) throws {
        let bytes = try row.decode(Data.self, forColumn: "ages")
        self.init(
            asOf: try row.decode(forColumn: "as_of"),
            ages: stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
                UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
            }
        )
    }

    /// The ages, the lower byte of each first.
    var bytes: Data {
        ages.map(\.littleEndian).withUnsafeBytes { Data($0) }
    }
}

extension GapRow {
    init(_ row: Row) throws {
        try self.init(
            code: UInt64(bitPattern: row.decode(Int64.self, forColumn: "code")),
            epoch: row.decode(forColumn: "epoch"),
            from: row.decode(forColumn: "went"),
            to: row.decode(forColumn: "came")
        )
    }
}

extension SessionRow {
    init(_ row: Row) throws {
        try self.init(
            code: UInt64(bitPattern: row.decode(Int64.self, forColumn: "code")),
            shard: UInt8(clamping: row.decode(Int.self, forColumn: "shard")),
            place: row.decode(forColumn: "place"),
            room: row.decode(forColumn: "room"),
            epoch: row.decode(forColumn: "epoch"),
            start: row.decode(forColumn: "began"),
            end: row.decode(forColumn: "ended"),
            watched: row.decode(forColumn: "watched"),
            watchedUntil: row.decode(forColumn: "watched_until"),
            poll: row.decode(forColumn: "poll"),
            stalled: row.decode(forColumn: "stalled"),
            dimensions: Dimensions(row) ?? Dimensions(playback: .sdk),
            // Nothing in rows that are older than the list.
            renditions: row.decode(String?.self, forColumn: "renditions").map { RenditionList.names(in: $0) },
            switches: row.decode(forColumn: "switches"),
            bytes: row.decode(forColumn: "bytes"),
            viewer: row.decode(Int64?.self, forColumn: "viewer").map { UInt64(bitPattern: $0) },
            isUser: row.decode(forColumn: "is_user"),
            estimate: row.decode(Int64?.self, forColumn: "estimate").map { UInt64(bitPattern: $0) },
            isHeard: row.decode(forColumn: "heard"),
            reason: row.decode(String?.self, forColumn: "reason").flatMap { AudienceEvent.CloseReason(rawValue: $0) },
            isClosed: row.decode(forColumn: "closed")
        )
    }
}
