/// A set of 64-bit hashes in sorted pages, with about ten bytes per value.
///
/// A full page moves values to a neighbour with space, or to a new page. So growth never copies the whole set, and an
/// insertion while a copy exists copies one page and the page list only.
struct PagedHashSet: Sendable {
    /// The number of values per page.
    static let size = 256
    /// The minimum free space of a neighbour that values are moved to.
    private static let leastSpace = size / 8

    /// The lower bound of each page, ascending; zero for the first.
    private var firsts: [UInt64] = []
    private var pages: [[UInt64]] = []
    private(set) var count = 0

    /// Allocated bytes.
    var bytes: Int {
        (pages.reduce(firsts.capacity + pages.capacity) { $0 + $1.capacity }) * MemoryLayout<UInt64>.stride
    }

    /// Inserts a value, unless it is present.
    mutating func insert(_ value: UInt64) {
        if pages.isEmpty { (firsts, pages) = ([0], [[]]) }
        var page = page(of: value)
        var index = Self.lowerBound(in: pages[page], below: value)
        guard index == pages[page].count || pages[page][index] != value else { return }
        if pages[page].count >= Self.size {
            makeSpace(in: page)
            page = self.page(of: value)
            index = Self.lowerBound(in: pages[page], below: value)
        }
        pages[page].insert(value, at: index)
        count += 1
    }

    /// The values in ascending order.
    var values: some Sequence<UInt64> { pages.joined() }

    /// Returns the page that a value belongs to.
    private func page(of value: UInt64) -> Int {
        let page = Self.lowerBound(in: firsts, below: value)
        return page < firsts.count && firsts[page] == value ? page : page - 1
    }

    private mutating func makeSpace(in page: Int) {
        let maximum = Self.size - Self.leastSpace
        if page + 1 < pages.count, pages[page + 1].count <= maximum {
            balance(page, page + 1)
        } else if page > 0, pages[page - 1].count <= maximum {
            balance(page - 1, page)
        } else {
            var fresh: [UInt64] = []
            fresh.reserveCapacity(Self.size)
            pages.insert(fresh, at: page + 1)
            firsts.insert(0, at: page + 1)
            balance(page, page + 1)
        }
    }

    /// Balances two neighbours, one of which is more than half full.
    private mutating func balance(_ left: Int, _ right: Int) {
        let half = (pages[left].count + pages[right].count) / 2
        let surplus = pages[left].count - half
        if surplus > 0 {
            pages[right].insert(contentsOf: pages[left][half...], at: 0)
            pages[left].removeLast(surplus)
        } else {
            pages[left].append(contentsOf: pages[right][..<(-surplus)])
            pages[right].removeFirst(-surplus)
        }
        firsts[right] = pages[right][0]
    }

    /// Returns the number of sorted values that are less than `value`.
    private static func lowerBound(in values: [UInt64], below value: UInt64) -> Int {
        values.withUnsafeBufferPointer { values in
            var (low, high) = (0, values.count)
            while low < high {
                let middle = (low + high) / 2
                if values[middle] < value { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}
