import Testing

@testable import Gateway

@Suite("The memory watermark")
struct MemoryWatchTests {
    @Test("above 80 % nobody new is let in, and not before it is below 75 % again")
    func hysteresis() {
        var watch = MemoryWatch()
        #expect(watch.note(0.79) == nil)
        #expect(watch.note(0.81) == true)
        #expect(watch.note(0.78) == nil)
        #expect(watch.note(0.74) == false)
        #expect(watch.note(0.79) == nil)
    }

    @Test("what is available counts, not what is free")
    func reading() throws {
        let text = "MemTotal:       1000 kB\nMemFree:          10 kB\nMemAvailable:    250 kB\n"
        let used = try #require(MemoryWatch.usedPart(meminfo: text))
        #expect(abs(used - 0.75) < 1e-9)
        #expect(MemoryWatch.usedPart(meminfo: "MemFree: 5 kB") == nil)
    }

    @Test("this machine answers with a part between nothing and all")
    func here() throws {
        let used = try #require(MemoryWatch.usedPart())
        #expect(used > 0 && used < 1)
    }
}
