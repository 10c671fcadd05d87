import Foundation
import NIOCore
import Synchronization

/// The newest pictures of all programs, as their mixers post them, and which are wanted.
///
/// The gateway never decodes: a mixer makes the files, and only of what somebody asked for in the last seconds. What is
/// wanted goes out with the answers to its reports, which come at least once a second.
final class SnapshotBoard: Sendable {
    struct Picture: Sendable {
        let bytes: ByteBuffer
        /// Seconds since 1970.
        let takenAt: Double
        let arrival: ContinuousClock.Instant
        /// Changes with every picture.
        let tag: String
    }

    private struct Wish: Sendable {
        var until: ContinuousClock.Instant
        /// Since when a mixer knows of it without having answered.
        var toldAt: ContinuousClock.Instant?
        /// Until when somebody with a token wants it.
        var knownUntil: ContinuousClock.Instant?
    }

    private struct Room: Sendable {
        var reportedAt: ContinuousClock.Instant?
        var wishes: [SnapshotKey: Wish] = [:]
        var pictures: [SnapshotKey: Picture] = [:]
    }

    /// Seconds for which a wish is remembered, and a picture of it kept fresh.
    private static let attention = Duration.seconds(10)
    /// Seconds between two pictures of one kind.
    private static let interval = Duration.seconds(2)
    /// Seconds without a report after which there is no program.
    private static let silence = Duration.seconds(5)
    /// Rooms from which on those are forgotten whose mixers are silent.
    private static let manyRooms = 64
    /// Kinds of pictures that a mixer makes at a time because somebody without a token wants them.
    private static let maximumAnonymousRequests = 2
    /// Kinds of pictures that it makes for others, beside those.
    private static let mostWishes = 4

    private let rooms = Mutex<[String: Room]>([:])
    private let count = Atomic<UInt64>(0)

    /// What a reader is told.
    enum Answer: Sendable {
        case picture(Picture)
        /// A mixer is at work and has been, or will be, asked.
        case awaited
        /// There are as many wishes as a mixer takes.
        case busy
        /// No mixer is at work.
        case none
    }

    /// The newest picture of a room, by sid; asks for a newer one along the way.
    ///
    /// - Parameter isAnonymous: Whether the reader showed no token; those who did have places of their own.
    func ask(
        _ key: SnapshotKey,
        room: String,
        isAnonymous: Bool = false,
        now: ContinuousClock.Instant = .now
    ) -> Answer {
        rooms.withLock { rooms in
            var entry = rooms[room] ?? Room()
            guard let reportedAt = entry.reportedAt, now - reportedAt < Self.silence else { return .none }
            entry.wishes = entry.wishes.filter { $1.until > now }
            let known = entry.wishes.values.count { $0.knownUntil.map { $0 > now } ?? false }
            var wish = entry.wishes[key] ?? Wish(until: now)
            if isAnonymous {
                let isRequested = entry.wishes[key] != nil
                guard isRequested || entry.wishes.count - known < Self.maximumAnonymousRequests else { return .busy }
            } else {
                let isKnown = wish.knownUntil.map { $0 > now } ?? false
                guard isKnown || known < Self.mostWishes else { return .busy }
                wish.knownUntil = now + Self.attention
            }
            wish.until = now + Self.attention
            entry.wishes[key] = wish
            rooms[room] = entry
            guard let picture = entry.pictures[key], now - picture.arrival < Self.attention else {
                return .awaited
            }
            return .picture(picture)
        }
    }

    /// Notes that a room's mixer is at work.
    ///
    /// - Returns: The pictures that it should make now.
    func reported(room: String, now: ContinuousClock.Instant = .now) -> [SnapshotKey] {
        rooms.withLock { rooms in
            if rooms[room] == nil, rooms.count >= Self.manyRooms {
                rooms = rooms.filter { now - ($1.reportedAt ?? now) < Self.silence }
            }
            rooms[room, default: Room()].reportedAt = now
            var due: [SnapshotKey] = []
            for (key, wish) in rooms[room]?.wishes ?? [:] {
                guard wish.until > now else {
                    rooms[room]?.wishes[key] = nil
                    rooms[room]?.pictures[key] = nil
                    continue
                }
                let age = rooms[room]?.pictures[key].map { now - $0.arrival }
                let isFresh = age.map { $0 < Self.interval } ?? false
                let isAnswering = wish.toldAt.map { now - $0 < Self.interval } ?? false
                guard !isFresh, !isAnswering else { continue }
                rooms[room]?.wishes[key]?.toldAt = now
                due.append(key)
            }
            return due.sorted { $0.text < $1.text }
        }
    }

    /// Takes a picture that a mixer made.
    func post(_ bytes: ByteBuffer, _ key: SnapshotKey, room: String, now: ContinuousClock.Instant = .now) {
        let number = count.add(1, ordering: .relaxed).newValue
        let takenAt = Date().timeIntervalSince1970
        let picture = Picture(
            bytes: bytes,
            takenAt: takenAt,
            arrival: now,
            tag: "\"\(String(UInt64(takenAt * 1000), radix: 36))-\(String(number, radix: 36))\""
        )
        rooms.withLock { rooms in
            // Nobody asked, or nobody does any more.
            guard rooms[room]?.wishes[key] != nil else { return }
            rooms[room]?.wishes[key]?.toldAt = nil
            rooms[room]?.pictures[key] = picture
        }
    }
}
