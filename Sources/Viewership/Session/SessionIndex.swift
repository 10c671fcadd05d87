/// Where each session is, by the proof in its id: four bytes a place, at most three quarters of them taken.
///
/// The proof is an HMAC's output, so it is its own hash; collisions are tried one place further on.
struct SessionIndex {
    private static let empty: Int32 = -1

    private var slots = [Int32](repeating: empty, count: 16)
    private(set) var count = 0

    private var mask: Int { slots.count - 1 }

    /// Bytes that it takes.
    var bytes: Int { slots.capacity * MemoryLayout<Int32>.stride }

    func find(_ code: UInt64, in sessions: [ViewerSession]) -> Int? {
        var slot = home(of: code)
        while slots[slot] != Self.empty {
            let place = Int(slots[slot])
            if sessions[place].code == code { return place }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Adds the session at `place`, whose code is not in here.
    mutating func insert(_ place: Int32, in sessions: [ViewerSession]) {
        if (count + 1) * 4 > slots.count * 3 { grow(sessions) }
        put(place, code: sessions[Int(place)].code)
        count += 1
    }

    mutating func remove(_ code: UInt64, in sessions: [ViewerSession]) {
        var slot = home(of: code)
        while slots[slot] != Self.empty, sessions[Int(slots[slot])].code != code { slot = (slot + 1) & mask }
        guard slots[slot] != Self.empty else { return }
        count -= 1
        // Those behind it that could not have its place move up, so that no search ends before them.
        var hole = slot
        slot = (slot + 1) & mask
        while slots[slot] != Self.empty {
            let home = home(of: sessions[Int(slots[slot])].code)
            if (slot - home) & mask >= (slot - hole) & mask {
                slots[hole] = slots[slot]
                hole = slot
            }
            slot = (slot + 1) & mask
        }
        slots[hole] = Self.empty
    }

    private func home(of code: UInt64) -> Int {
        Int(truncatingIfNeeded: code) & mask
    }

    private mutating func put(_ place: Int32, code: UInt64) {
        var slot = home(of: code)
        while slots[slot] != Self.empty { slot = (slot + 1) & mask }
        slots[slot] = place
    }

    private mutating func grow(_ sessions: [ViewerSession]) {
        let old = slots
        slots = [Int32](repeating: Self.empty, count: old.count * 2)
        for place in old where place != Self.empty { put(place, code: sessions[Int(place)].code) }
    }
}
