import Foundation
import GRDB
import Stage
import Viewership

// Decodes rows of the history.

extension Row {
    /// The largest magnitude that is accepted from a row; larger numbers are damage.
    ///
    /// It exceeds every real time in milliseconds, byte count or viewer count, and is small enough for sums not to
    /// overflow.
    private static let maximum: Int64 = 1 << 50
    /// The same limit for minutes since 1970, which are converted to milliseconds.
    private static let maximumMinutes: Int64 = 1 << 32

    /// Decodes a minute, or a number of minutes, clamped to its bounds.
    func minute<Number: FixedWidthInteger & SignedInteger>(_ column: String = "minute") throws -> Number {
        Number(clamping: Swift.min(Swift.max(try decode(Int64.self, forColumn: column), 0), Self.maximumMinutes))
    }

    /// Decodes a number, clamped to its bounds.
    func number<Number: FixedWidthInteger & SignedInteger>(_ column: String) throws -> Number {
        Number(clamping: Self.bounded(try decode(Int64.self, forColumn: column)))
    }

    /// Decodes an optional number, clamped to its bounds.
    func optionalNumber<Number: FixedWidthInteger & SignedInteger>(_ column: String) throws -> Number? {
        try decode(Int64?.self, forColumn: column).map { Number(clamping: Self.bounded($0)) }
    }

    private static func bounded(_ number: Int64) -> Int64 { Swift.min(Swift.max(number, -maximum), maximum) }
}

extension BroadcastRow {
    init(_ row: Row) throws {
        try self.init(
            epoch: row.number("epoch"),
            room: row.decode(forColumn: "room"),
            roomSID: row.decode(forColumn: "room_sid"),
            began: row.number("began"),
            ended: row.optionalNumber("ended"),
            onAir: row.number("on_air"),
            peak: row.number("peak"),
            peakAt: row.optionalNumber("peak_at"),
            uniques: UniqueViewers(
                users: row.number("users"),
                devices: row.number("devices"),
                estimated: row.number("estimated"),
                isApproximate: row.decode(forColumn: "approximate")
            ),
            reportingSessions: row.number("heard"),
            unusedIDs: row.number("unseen"),
            excluded: row.decode(String.self, forColumn: "excluded").split(separator: " ")
                .map { min(max(Int($0) ?? 0, 0), 1 << 50) }
        )
    }
}

extension Dimensions {
    /// Nil for the row of a whole room.
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
                epoch: row.number("epoch"),
                minute: row.minute(),
                dimensions: Dimensions(row)
            ),
            counts: AudienceCounts(row),
            aired: row.number("aired"),
            minimum: row.number("least"),
            maximum: row.number("most"),
            last: row.number("last")
        )
    }
}

extension AudienceCounts {
    fileprivate init(_ row: Row) throws {
        try self.init(
            joins: row.number("joins"),
            switches: row.number("switches"),
            watched: row.number("watched"),
            stalled: row.number("stalled"),
            startup: row.number("startup"),
            startups: row.number("startups")
        )
        let columns = ["gone", "timed_out", "too_slow", "room_ended", "shutdown"]
        for (reason, column) in zip(CloseReasonCounters.allReasons, columns) { leaves[reason] = try row.number(column) }
    }
}

extension LastHits {
    init(_ row: Row) throws {
        let bytes = try row.decode(Data.self, forColumn: "ages")
        self.init(
            asOf: try row.number("as_of"),
            ages: stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
                UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
            }
        )
    }

    /// The ages as little-endian bytes.
    var bytes: Data {
        ages.map(\.littleEndian).withUnsafeBytes { Data($0) }
    }
}

extension GapRow {
    init(_ row: Row) throws {
        try self.init(
            code: UInt64(bitPattern: row.decode(Int64.self, forColumn: "code")),
            epoch: row.number("epoch"),
            from: row.number("went"),
            to: row.number("came")
        )
    }
}

extension MoveRow {
    init(_ row: Row) throws {
        try self.init(
            code: UInt64(bitPattern: row.decode(Int64.self, forColumn: "code")),
            epoch: row.number("epoch"),
            at: row.number("at"),
            from: Dimensions(row) ?? Dimensions(playback: .sdk)
        )
    }
}

extension SessionRow {
    init(_ row: Row) throws {
        try self.init(
            code: UInt64(bitPattern: row.decode(Int64.self, forColumn: "code")),
            shard: UInt8(clamping: row.decode(Int.self, forColumn: "shard")),
            index: row.optionalNumber("place"),
            room: row.decode(forColumn: "room"),
            epoch: row.number("epoch"),
            start: row.number("began"),
            end: row.optionalNumber("ended"),
            watched: row.number("watched"),
            watchedUntil: row.optionalNumber("watched_until"),
            poll: row.number("poll"),
            stalled: row.number("stalled"),
            dimensions: Dimensions(row) ?? Dimensions(playback: .sdk),
            // Rows of earlier versions have no list.
            renditions: row.decode(String?.self, forColumn: "renditions").map { RenditionList.names(in: $0) },
            switches: row.number("switches"),
            bytes: row.number("bytes"),
            viewer: row.decode(Int64?.self, forColumn: "viewer").map { UInt64(bitPattern: $0) },
            isUser: row.decode(forColumn: "is_user"),
            estimate: row.decode(Int64?.self, forColumn: "estimate").map { UInt64(bitPattern: $0) },
            hasReported: row.decode(forColumn: "heard"),
            isLogged: row.decode(forColumn: "logged"),
            reason: row.decode(String?.self, forColumn: "reason").flatMap { AudienceEvent.CloseReason(rawValue: $0) },
            isClosed: row.decode(forColumn: "closed")
        )
    }
}

/// Encodes the renditions of a session in one column, joined by a character that no name contains.
enum RenditionList {
    private static let separator: Character = "\u{1F}"

    static func text(of names: [String]) -> String {
        names.map { $0.filter { $0 != separator } }.joined(separator: String(separator))
    }

    static func names(in text: String) -> [String] {
        text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
