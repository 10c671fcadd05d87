/// The sessions of a shard by index, in pages that never move.
///
/// Growth copies nothing and allocates one page at a time.
///
/// `@unchecked Sendable`: the table owns its pages, cannot be copied, and its owner serializes access.
struct SessionTable: ~Copyable, @unchecked Sendable {
    /// The maximum number of sessions; the index and the links have bits for no more.
    static let limit = 1 << 22 - 1
    /// The number of sessions per page, as a power of two.
    private static let shift = 9
    private static let size = 1 << shift

    private var pages: [UnsafeMutablePointer<ViewerSession>] = []
    /// The number of indices in use so far.
    private(set) var count = 0

    init() {}

    deinit {
        // Sessions are trivial values.
        for page in pages { UnsafeMutableRawPointer(page).deallocate() }
    }

    var indices: Range<Int> { 0..<count }

    /// Allocated bytes.
    var bytes: Int { pages.count << Self.shift * MemoryLayout<ViewerSession>.stride }

    /// - Parameter index: An index below `count`.
    subscript(index: Int) -> ViewerSession {
        get { pages[index >> Self.shift][index & (Self.size - 1)] }
        _modify { yield &pages[index >> Self.shift][index & (Self.size - 1)] }
    }

    /// Appends a session.
    ///
    /// - Returns: Its index.
    mutating func append(_ session: ViewerSession) -> Int {
        if count == pages.count << Self.shift {
            // Aligned to cache lines, so that each session occupies one.
            let page = UnsafeMutableRawPointer.allocate(
                byteCount: Self.size * MemoryLayout<ViewerSession>.stride,
                alignment: MemoryLayout<ViewerSession>.stride
            )
            pages.append(page.bindMemory(to: ViewerSession.self, capacity: Self.size))
        }
        let index = count
        (pages[index >> Self.shift] + index & (Self.size - 1)).initialize(to: session)
        count += 1
        return index
    }
}

/// Finds sessions by the code of their ids: four bytes per slot, at most seven eighths full.
///
/// The code is an HMAC, so that it needs no further hash; collisions use linear probing. A slot also has ten bits of
/// the code, so that other sessions are hardly ever accessed.
struct SessionIndex {
    private static let empty: UInt32 = 0
    /// The bits of a slot with the index plus one.
    private static let indexBits: UInt32 = 1 << 22 - 1
    private static let tagBits = ~indexBits

    private var slots = [UInt32](repeating: empty, count: 16)
    private(set) var count = 0

    private var mask: Int { slots.count - 1 }

    /// Allocated bytes.
    var bytes: Int { slots.capacity * MemoryLayout<UInt32>.stride }

    func find(_ code: UInt64, in sessions: borrowing SessionTable) -> Int? {
        slot(of: code, in: sessions).map { Self.index(slots[$0]) }
    }

    /// Inserts the session at `index`, whose code is not present.
    mutating func insert(_ index: Int, in sessions: borrowing SessionTable) {
        if (count + 1) * 8 > slots.count * 7 { grow(sessions) }
        store(index, code: sessions[index].code)
        count += 1
    }

    mutating func remove(_ code: UInt64, in sessions: borrowing SessionTable) {
        guard var hole = slot(of: code, in: sessions) else { return }
        count -= 1
        // Displaced entries move up, so that no probe ends before them.
        var slot = (hole + 1) & mask
        while slots[slot] != Self.empty {
            let homeSlot = homeSlot(of: sessions[Self.index(slots[slot])].code)
            if (slot - homeSlot) & mask >= (slot - hole) & mask {
                slots[hole] = slots[slot]
                hole = slot
            }
            slot = (slot + 1) & mask
        }
        slots[hole] = Self.empty
    }

    private func slot(of code: UInt64, in sessions: borrowing SessionTable) -> Int? {
        let tag = Self.tag(of: code)
        var slot = homeSlot(of: code)
        while slots[slot] != Self.empty {
            if slots[slot] & Self.tagBits == tag, sessions[Self.index(slots[slot])].code == code { return slot }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private static func index(_ slot: UInt32) -> Int { Int(slot & indexBits) - 1 }

    /// The tag uses other bits than the home slot.
    private static func tag(of code: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: code >> 32) & tagBits }

    private func homeSlot(of code: UInt64) -> Int {
        Int(truncatingIfNeeded: code) & mask
    }

    private mutating func store(_ index: Int, code: UInt64) {
        var slot = homeSlot(of: code)
        while slots[slot] != Self.empty { slot = (slot + 1) & mask }
        slots[slot] = UInt32(index + 1) | Self.tag(of: code)
    }

    private mutating func grow(_ sessions: borrowing SessionTable) {
        let old = slots
        slots = [UInt32](repeating: Self.empty, count: old.count * 2)
        for slot in old where slot != Self.empty {
            let index = Self.index(slot)
            store(index, code: sessions[index].code)
        }
    }
}
