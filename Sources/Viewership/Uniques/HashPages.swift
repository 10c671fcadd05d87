/// A set of 64-bit hashes in sorted pages, which takes about ten bytes for each of them.
///
/// A page that is full gives of its values to a neighbour with space, or to a new page behind it. So nobody waits until
/// a large table has been copied into a larger one; nor does a copy that a reader holds cost more than a page and the
/// lists, when the next value comes.
struct HashPages: Sendable {
    /// Values of a page.
    static let size = 256
    /// A neighbour that has less space than this is not worth the moving.
    private static let leastSpace = size / 8

    /// The least value of each page, in order; of the first one zero.
    private var firsts: [UInt64] = []
    private var pages: [[UInt64]] = []
    private(set) var count = 0

    /// Bytes that it takes.
    var bytes: Int {
        (pages.reduce(firsts.capacity + pages.capacity) { $0 + $1.capacity }) * MemoryLayout<UInt64>.stride
    }

    /// Adds a value, if it is not in here.
    mutating func insert(_ value: UInt64) {
        if pages.isEmpty { (firsts, pages) = ([0], [[]]) }
        var page = page(of: value)
        var place = Self.places(in: pages[page], below: value)
        guard place == pages[page].count || pages[page][place] != value else { return }
        if pages[page].count >= Self.size {
            makeSpace(in: page)
            page = self.page(of: value)
            place = Self.places(in: pages[page], below: value)
        }
        pages[page].insert(value, at: place)
        count += 1
    }

    /// Every value, the least first.
    var values: some Sequence<UInt64> { pages.joined() }

    /// Where the value is, or would be.
    private func page(of value: UInt64) -> Int {
        let page = Self.places(in: firsts, below: value)
        return page < firsts.count && firsts[page] == value ? page : page - 1
    }

    private mutating func makeSpace(in page: Int) {
        let most = Self.size - Self.leastSpace
        if page + 1 < pages.count, pages[page + 1].count <= most {
            even(page, page + 1)
        } else if page > 0, pages[page - 1].count <= most {
            even(page - 1, page)
        } else {
            var fresh: [UInt64] = []
            fresh.reserveCapacity(Self.size)
            pages.insert(fresh, at: page + 1)
            firsts.insert(0, at: page + 1)
            even(page, page + 1)
        }
    }

    /// Leaves two neighbours with as many values each, one of them more than half full.
    private mutating func even(_ left: Int, _ right: Int) {
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

    /// How many of the values, which are in order, are less than `value`.
    private static func places(in values: [UInt64], below value: UInt64) -> Int {
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
