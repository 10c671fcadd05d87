/// Which hosts have a tile, and where: a mere join never displaces anybody, and a host beyond the last place waits.
struct StagePlaces: Sendable, Equatable {
    /// Participant sids by position.
    private(set) var onAir: [String] = []
    /// Hosts without a place, in join order.
    private(set) var waiting: [String] = []
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    mutating func add(_ sid: String) {
        if onAir.count < capacity {
            onAir.append(sid)
        } else {
            waiting.append(sid)
        }
    }

    /// A host's place, on air or in the queue, goes to the same person under a new sid.
    mutating func replace(_ old: String, with new: String) {
        if let index = onAir.firstIndex(of: old) {
            onAir[index] = new
        } else if let index = waiting.firstIndex(of: old) {
            waiting[index] = new
        } else {
            add(new)
        }
    }

    /// Frees a place; the longest waiting host takes it, or else the others close up, each moving only if it must.
    mutating func remove(_ sid: String) {
        waiting.removeAll { $0 == sid }
        guard onAir.contains(sid) else { return }
        var next = onAir.filter { $0 != sid }
        if !waiting.isEmpty {
            next.append(waiting.removeFirst())
        }
        onAir = StablePlaces.arrange(previous: onAir, next: next)
    }

    mutating func removeAll() {
        onAir = []
        waiting = []
    }
}
