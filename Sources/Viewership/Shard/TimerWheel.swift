/// Sessions by the second in which somebody should look at them again.
///
/// A session stands in it at most once and is not moved when it shows life: whoever takes it out reads the session's
/// own deadline and puts it back if that has moved on. So a sign of life costs nothing here. The slots are lists whose
/// links are in the sessions.
struct TimerWheel {
    private static let slotCount: Int64 = 64
    private static let end: Int32 = -1

    private var slots = [Int32](repeating: end, count: Int(slotCount))
    /// Taken out of their slot, not yet handed over.
    private var due = end
    /// The last second whose slot was emptied.
    private(set) var second: Int64

    init(second: Int64) {
        self.second = second
    }

    /// Puts `index` into the first slot at or after `deadline` (milliseconds), or into the farthest there is.
    mutating func schedule(_ index: Int32, deadline: Int64, in sessions: inout SessionTable) {
        let wanted = (deadline + 999) / 1000
        let slot = Int(min(max(wanted, second + 1), second + Self.slotCount - 1) % Self.slotCount)
        sessions[Int(index)].next = slots[slot]
        slots[slot] = index
    }

    /// The next session whose second has come by `now` (milliseconds); nil when none is left.
    mutating func next(now: Int64, in sessions: borrowing SessionTable) -> Int32? {
        let target = now / 1000
        while due == Self.end {
            guard second < target else { return nil }
            // After a long sleep of the machine one turn of the wheel has visited every slot.
            second = max(second + 1, target - Self.slotCount + 1)
            swap(&due, &slots[Int(second % Self.slotCount)])
        }
        let index = due
        due = sessions[Int(index)].next
        return index
    }
}
