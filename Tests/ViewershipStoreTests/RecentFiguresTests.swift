import Testing

@testable import ViewershipStore

@Suite("Figures that take long to find")
struct RecentFiguresTests {
    typealias Peak = (viewers: Int, at: Int64)
    typealias Figures = RecentFigures<Int64, Peak?>

    private final class Search {
        var now = 100.0
        /// How long the next one takes, and what it finds.
        var takes = 0.0
        var finds: Peak? = (1, 1)
        private(set) var count = 0

        func run() -> Peak? {
            count += 1
            now += takes
            return finds
        }

        func ask(_ peaks: inout Figures, _ epoch: Int64 = 1) -> Int? {
            peaks.figure(of: epoch, clock: { self.now }, find: run)?.viewers
        }
    }

    @Test("it is good for twenty times as long as it took to find, so that those who ask cost a twentieth at most")
    func cost() {
        let search = Search()
        var peaks = Figures()
        search.takes = 0.4
        #expect(search.ask(&peaks) == 1 && search.count == 1)
        search.finds = (2, 2)
        search.now += 7.9
        #expect(search.ask(&peaks) == 1 && search.count == 1)
        // Another broadcast has its own.
        #expect(search.ask(&peaks, 2) == 2 && search.count == 2)
        search.now += 0.2
        #expect(search.ask(&peaks) == 2 && search.count == 3)
        // A hundred who ask five times a second for two minutes.
        let began = (now: search.now, count: search.count)
        while search.now < began.now + 120 {
            for _ in 0..<100 { _ = search.ask(&peaks) }
            search.now += 0.2
        }
        #expect(Double(search.count - began.count) * search.takes < (search.now - began.now) / 20)
        // However long it took, it is not kept for good.
        search.takes = 30
        search.now += 60
        _ = search.ask(&peaks)
        search.finds = (3, 3)
        search.now += 60
        #expect(search.ask(&peaks) == 3)
    }

    @Test("one that takes no time to find is found each time; what cannot be read is not kept; nobody is a peak too")
    func fresh() {
        struct Fault: Error {}
        let search = Search()
        var peaks = Figures()
        for viewers in 1...5 {
            search.finds = (viewers, 0)
            #expect(search.ask(&peaks) == viewers)
        }
        #expect(throws: Fault.self) {
            try peaks.figure(of: 1, clock: { search.now }) { () throws(Fault) in throw Fault() }
        }
        search.takes = 1
        search.finds = nil
        #expect(search.ask(&peaks) == nil && search.ask(&peaks) == nil && search.count == 6)
    }

    @Test("of however many broadcasts it is asked, it keeps a thousand")
    func bounded() {
        let search = Search()
        var peaks = Figures()
        search.takes = 0.001
        for epoch in 0..<1000 as Range<Int64> {
            search.now -= 0.001
            _ = search.ask(&peaks, epoch)
        }
        #expect(search.ask(&peaks, 0) == 1 && search.count == 1000)
        _ = search.ask(&peaks, 5000)
        search.now -= 0.001
        _ = search.ask(&peaks, 5000)
        #expect(search.count == 1002)
        search.now += 1
        _ = search.ask(&peaks, 5000)
        _ = search.ask(&peaks, 5000)
        #expect(search.count == 1003)
    }
}
