/// A first-in first-out queue on one growing circular array, without allocations in steady state.
struct Fifo<Element> {
    private var slots: [Element?] = Array(repeating: nil, count: 16)
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: Element? { count == 0 ? nil : slots[head] }
    var last: Element? { count == 0 ? nil : slots[index(count - 1)] }

    /// The element `offset` positions after the first.
    subscript(offset: Int) -> Element? {
        offset >= 0 && offset < count ? slots[index(offset)] : nil
    }

    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[index(count)] = element
        count += 1
    }

    /// Inserts `element` before all others.
    mutating func prepend(_ element: Element) {
        if count == slots.count { grow() }
        head = (head + slots.count - 1) & (slots.count - 1)
        slots[head] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head]
        slots[head] = nil
        head = (head + 1) & (slots.count - 1)
        count -= 1
        return element
    }

    mutating func removeAll() {
        while popFirst() != nil {}
    }

    private func index(_ offset: Int) -> Int {
        (head + offset) & (slots.count - 1)
    }

    private mutating func grow() {
        var larger: [Element?] = Array(repeating: nil, count: slots.count * 2)
        for offset in 0..<count { larger[offset] = slots[index(offset)] }
        slots = larger
        head = 0
    }
}

extension Fifo: Sendable where Element: Sendable {}
