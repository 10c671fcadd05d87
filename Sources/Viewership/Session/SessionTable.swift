/// The sessions of a shard by their place, in pages that stay where they are.
///
/// Nothing is copied when it grows, so that nobody waits for that, and no more is taken than one page beyond what is
/// used.
///
/// `@unchecked Sendable`: the pages are its own alone, it cannot be copied, and whoever owns it lets one thread at a time
/// in.
struct SessionTable: ~Copyable, @unchecked Sendable {
    /// Places that there can be; the index and the links between sessions have bits for no more.
    static let limit = 1 << 22 - 1
    /// Sessions of a page, as a power of two.
    private static let shift = 9
    private static let size = 1 << shift

    private var pages: [UnsafeMutablePointer<ViewerSession>] = []
    /// Places that were ever taken.
    private(set) var count = 0

    init() {}

    deinit {
        // What is in them needs no end of its own.
        for page in pages { UnsafeMutableRawPointer(page).deallocate() }
    }

    var indices: Range<Int> { 0..<count }

    /// Bytes that it takes.
    var bytes: Int { pages.count << Self.shift * MemoryLayout<ViewerSession>.stride }

    /// - Parameter place: below `count`.
    subscript(place: Int) -> ViewerSession {
        get { pages[place >> Self.shift][place & (Self.size - 1)] }
        _modify { yield &pages[place >> Self.shift][place & (Self.size - 1)] }
    }

    /// Adds a session behind all others.
    ///
    /// - Returns: its place.
    mutating func append(_ session: ViewerSession) -> Int {
        if count == pages.count << Self.shift {
            // At the lines of the cache, so that a session is in one of them.
            let page = UnsafeMutableRawPointer.allocate(
                byteCount: Self.size * MemoryLayout<ViewerSession>.stride,
                alignment: MemoryLayout<ViewerSession>.stride
            )
            pages.append(page.bindMemory(to: ViewerSession.self, capacity: Self.size))
        }
        let place = count
        (pages[place >> Self.shift] + place & (Self.size - 1)).initialize(to: session)
        count += 1
        return place
    }
}
