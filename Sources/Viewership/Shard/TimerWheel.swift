/// Sessions by the second in which somebody should look at them again.
///
/// A session stands in it at most once and is not moved when it shows life: whoever takes it out reads the session's
/// own deadline and puts it back if that has moved on. So a sign of life costs nothing here.
struct TimerWheel {
    private static let slotCount: Int64 = 64

    private var slots = [[Int32]](repeating: [], count: Int(slotCount))
    /// Taken out of their slot, not yet handed over.
    private var due: [Int32] = []
    /// The last second whose slot was emptied.
    private(set) var second: Int64

    init(second: Int64) {
        self.second = second
    }

    /// Puts `index` into the first slot at or after `deadline` (milliseconds), or into the farthest there is.
    mutating func schedule(_ index: Int32, deadline: Int64) {
        let wanted = (deadline + 999) / 1000
        let slot = min(max(wanted, second + 1), second + Self.slotCount - 1)
        slots[Int(slot % Self.slotCount)].append(index)
    }

    /// The next session whose second has come by `now` (milliseconds); nil when none is left.
    mutating func next(now: Int64) -> Int32? {
        let target = now / 1000
        while due.isEmpty {
            guard second < target else { return nil }
            // After a long sleep of the machine one turn of the wheel has visited every slot.
            second = max(second + 1, target - Self.slotCount + 1)
            swap(&due, &slots[Int(second % Self.slotCount)])
        }
        return due.popLast()
    }
}
