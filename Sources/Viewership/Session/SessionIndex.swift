/// Where each session is, by the proof in its id: four bytes a place, at most seven eighths of them taken.
///
/// The proof is an HMAC's output, so it is its own hash; collisions are tried one place further on. Beside the place a
/// slot has ten bits of the proof, so that hardly ever another session is looked at.
struct SessionIndex {
    private static let empty: UInt32 = 0
    /// The part of a slot that says the place, counted from one.
    private static let placeBits: UInt32 = 1 << 22 - 1
    private static let tagBits = ~placeBits

    private var slots = [UInt32](repeating: empty, count: 16)
    private(set) var count = 0

    private var mask: Int { slots.count - 1 }

    /// Bytes that it takes.
    var bytes: Int { slots.capacity * MemoryLayout<UInt32>.stride }

    func find(_ code: UInt64, in sessions: borrowing SessionTable) -> Int? {
        slot(of: code, in: sessions).map { Self.place(slots[$0]) }
    }

    /// Adds the session at `place`, whose code is not in here.
    mutating func insert(_ place: Int, in sessions: borrowing SessionTable) {
        if (count + 1) * 8 > slots.count * 7 { grow(sessions) }
        put(place, code: sessions[place].code)
        count += 1
    }

    mutating func remove(_ code: UInt64, in sessions: borrowing SessionTable) {
        guard var hole = slot(of: code, in: sessions) else { return }
        count -= 1
        // Those behind it that could not have its place move up, so that no search ends before them.
        var slot = (hole + 1) & mask
        while slots[slot] != Self.empty {
            let home = home(of: sessions[Self.place(slots[slot])].code)
            if (slot - home) & mask >= (slot - hole) & mask {
                slots[hole] = slots[slot]
                hole = slot
            }
            slot = (slot + 1) & mask
        }
        slots[hole] = Self.empty
    }

    private func slot(of code: UInt64, in sessions: borrowing SessionTable) -> Int? {
        let tag = Self.tag(of: code)
        var slot = home(of: code)
        while slots[slot] != Self.empty {
            if slots[slot] & Self.tagBits == tag, sessions[Self.place(slots[slot])].code == code { return slot }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private static func place(_ slot: UInt32) -> Int { Int(slot & placeBits) - 1 }

    /// Of the other end than the home's.
    private static func tag(of code: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: code >> 32) & tagBits }

    private func home(of code: UInt64) -> Int {
        Int(truncatingIfNeeded: code) & mask
    }

    private mutating func put(_ place: Int, code: UInt64) {
        var slot = home(of: code)
        while slots[slot] != Self.empty { slot = (slot + 1) & mask }
        slots[slot] = UInt32(place + 1) | Self.tag(of: code)
    }

    private mutating func grow(_ sessions: borrowing SessionTable) {
        let old = slots
        slots = [UInt32](repeating: Self.empty, count: old.count * 2)
        for slot in old where slot != Self.empty {
            let place = Self.place(slot)
            put(place, code: sessions[place].code)
        }
    }
}
