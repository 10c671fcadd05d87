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
}
