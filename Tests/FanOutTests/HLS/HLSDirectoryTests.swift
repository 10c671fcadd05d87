@testable import FanOut
import FootlightTesting
import HLS
import Testing

@Suite("The HLS programs of all rooms")
struct HLSDirectoryTests {
    @Test("An ended program stays for a minute, and not longer")
    func afterlife() {
        let clock = ManualClock()
        let directory = HLSDirectory(configuration: HLSConfiguration(), clock: clock)
        let program = directory.open("r")
        #expect(directory.open("r") === program)
        directory.close("r")
        clock.advance(by: .seconds(59))
        directory.sweep()
        #expect(directory.program("r") === program)
        clock.advance(by: .seconds(2))
        directory.sweep()
        #expect(directory.program("r") == nil)
    }

    @Test("A room that begins anew under an old name has a program of its own")
    func newRun() {
        let directory = HLSDirectory(configuration: HLSConfiguration(), clock: ManualClock())
        let old = directory.open("r")
        directory.close("r")
        let new = directory.open("r")
        #expect(new !== old)
        directory.sweep()
        #expect(directory.program("r") === new)
    }

    @Test("A program that goes on is never swept away")
    func living() {
        let clock = ManualClock()
        let directory = HLSDirectory(configuration: HLSConfiguration(), clock: clock)
        let program = directory.open("r")
        clock.advance(by: .seconds(3600))
        directory.sweep()
        #expect(directory.program("r") === program)
    }

    @Test("Who was told to try again waits for ten seconds, as long as there is a room")
    func awaited() {
        let clock = ManualClock()
        let directory = HLSDirectory(configuration: HLSConfiguration(), clock: clock)
        _ = directory.open("r")
        directory.asked(for: "elsewhere")
        #expect(directory.awaitedRooms.isEmpty)
        directory.asked(for: "r")
        clock.advance(by: .seconds(9))
        #expect(directory.awaitedRooms == ["r"])
        clock.advance(by: .seconds(2))
        #expect(directory.awaitedRooms.isEmpty)
        directory.asked(for: "r")
        directory.close("r")
        #expect(directory.awaitedRooms.isEmpty)
    }
}
