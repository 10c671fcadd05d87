import Foundation
import Viewership

/// Notices which numbers of viewers a broadcast reaches for the first time.
struct ThresholdWatch: Sendable {
    private struct Reached {
        /// When the broadcast began; another one of the same room begins anew.
        var beganAt: Double
        var peak: Int
    }

    private let thresholds: [Int]
    private var rooms: [String: Reached] = [:]

    init(_ thresholds: [Int]) {
        self.thresholds = thresholds.sorted()
    }

    /// Takes note of a room's peak.
    ///
    /// - Parameter isKnown: It was there before us, and what it had reached then is no news.
    /// - Returns: The numbers that it has reached since the last time.
    mutating func note(room: String, beganAt: Double, peak: Int, isKnown: Bool = false) -> [Int] {
        var before = rooms[room]?.beganAt == beganAt ? rooms[room]?.peak ?? 0 : 0
        if isKnown { before = max(before, peak) }
        rooms[room] = Reached(beganAt: beganAt, peak: max(before, peak))
        return thresholds.filter { $0 > before && $0 <= peak }
    }

    mutating func note(_ room: RoomViewership, isKnown: Bool = false) -> [Int] {
        let beganAt = room.beganAt?.timeIntervalSince1970 ?? 0
        return note(room: room.room, beganAt: beganAt, peak: room.peak, isKnown: isKnown)
    }

    /// Forgets the rooms that are no more.
    mutating func keep(only names: Set<String>) {
        rooms = rooms.filter { names.contains($0.key) }
    }
}
