import Media
import Stage
import TestSupport
import Testing

@testable import Mixer

@Suite("Talkback in mix-minus feeds", .enabled(if: TestRun.isFull)) struct TalkbackInputTests {
    /// Makes three hosts of one tone each: 440, 880 and 1320 Hz, amplitude 0.2, all with a mix-minus.
    private func testProgram(backstage isBackstage: Bool = false) throws -> TestProgram {
        let testProgram = try TestProgram()
        for (host, tone) in [("a", 440.0), ("b", 880), ("c", 1320)] {
            let clip = try HostClip.plain(nil, tone: tone, amplitude: 0.2)
            testProgram.feed(host, clip.packets(from: 0, to: 6000)) { Double($0) + 30 }
        }
        let hosts: Set<String> = ["a", "b", "c"]
        testProgram.renderer.apply(
            Scene(
                audible: isBackstage ? [] : hosts,
                talkback: isBackstage ? hosts : [],
                audio: AudioScene(isLevelling: false, returns: hosts)
            )
        )
        return testProgram
    }

    /// Speaks to `hosts` in blocks of 100 ms from the present time to `end`.
    private func speak(_ testProgram: TestProgram, to hosts: Set<String>, until end: Int) {
        var time = Int(testProgram.now)
        while time < end {
            let block = (0..<4800).map { Float(0.3 * TestTone.sine(of: 2200, at: time * 48 + $0)) }
            testProgram.renderer.director.receive(block, for: hosts)
            time += 100
            testProgram.run(to: Double(time))
        }
    }

    private func level(_ tone: Double, of host: String, _ testProgram: TestProgram, _ start: Int, _ end: Int) -> Double
    {
        TestTone.level(of: tone, in: testProgram.returns.audio(of: host, from: start, to: end))
    }

    @Test(
        "a director is in the mix-minus of the chosen hosts only, and never in the program",
        arguments: [false, true]
    )
    func chosen(isBackstage: Bool) throws {
        let testProgram = try testProgram(backstage: isBackstage)
        testProgram.run(to: 2000)
        speak(testProgram, to: ["a"], until: 4000)
        testProgram.run(to: 5800)
        #expect(abs(level(2200, of: "a", testProgram, 2500, 4000) - 0.3) < 0.01)
        for host in ["b", "c"] { #expect(level(2200, of: host, testProgram, 2000, 5700) < 0.0003) }
        let program = testProgram.output.audio(from: 1000, to: 5700)
        #expect(TestTone.level(of: 2200, in: program) < 0.0003)
        #expect(abs(TestTone.level(of: 440, in: program) - (isBackstage ? 0 : 0.2)) < 0.01)
        #expect(testProgram.renderer.director.dropped < ProgramTime.quantum, "the rest that is no quantum")
    }

    @Test("the chosen host's mix-minus is lowered while the director speaks, and no other one")
    func ducking() throws {
        let testProgram = try testProgram()
        testProgram.run(to: 2000)
        speak(testProgram, to: ["a"], until: 4000)
        testProgram.run(to: 5800)
        let lowered = 0.2 * Double(Decibels.factor(MixMinusBus.directorDepth))
        for tone in [880.0, 1320] {
            #expect(abs(level(tone, of: "a", testProgram, 1000, 2000) - 0.2) < 0.01)
            #expect(abs(level(tone, of: "a", testProgram, 2500, 4000) - lowered) < 0.004)
            #expect(abs(level(tone, of: "a", testProgram, 4800, 5700) - 0.2) < 0.01)
        }
        #expect(abs(level(440, of: "b", testProgram, 1000, 5700) - 0.2) < 0.01)
        #expect(level(440, of: "a", testProgram, 1000, 5700) < 0.2 / 1000, "its own audio stays removed")
    }

    @Test("beginning and end of a talk are no steeper than the tones and a gain curve")
    func clicks() throws {
        let testProgram = try testProgram()
        testProgram.run(to: 2000)
        speak(testProgram, to: ["a"], until: 3000)
        testProgram.run(to: 4500)
        speak(testProgram, to: ["a"], until: 5000)
        testProgram.run(to: 5800)
        let steps =
            TestTone.step(of: 880, amplitude: 0.2) + TestTone.step(of: 1320, amplitude: 0.2)
            + TestTone.step(of: 2200, amplitude: 0.3)
        let largest = TestTone.largestStep(in: testProgram.returns.audio(of: "a", from: 1000, to: 5700))
        #expect(largest < steps * 1.05 + 1.5 * 0.7 / Float(ProgramTime.quantum))
    }

    @Test("hosts who are no longer chosen receive no more of a talk")
    func change() throws {
        let testProgram = try testProgram()
        testProgram.run(to: 2000)
        speak(testProgram, to: ["a", "b"], until: 3000)
        speak(testProgram, to: ["b"], until: 4000)
        testProgram.run(to: 5000)
        #expect(abs(level(2200, of: "a", testProgram, 2400, 2900) - 0.3) < 0.01)
        #expect(level(2200, of: "a", testProgram, 3100, 4900) < 0.0003)
        #expect(abs(level(2200, of: "b", testProgram, 2400, 4000) - 0.3) < 0.01)
    }

}

@Suite("Jitter buffer of the talkback") struct TalkbackQueueTests {
    @Test("it begins with its target, plays a short talk late, and drops one too short to be played")
    func beginning() {
        var queue = TalkbackQueue()
        var buffer = [Float](repeating: 0, count: 512)
        func read() -> TalkbackQuantum? {
            buffer.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.flatMap { queue.read(into: $0, count: 512) }
            }
        }
        queue.append([Float](repeating: 0.5, count: TalkbackQueue.target - 1), for: ["a"])
        #expect(read() == nil)
        queue.append([0.5], for: ["a"])
        #expect(read() == TalkbackQuantum(hosts: ["a"], isLast: false) && queue.count == TalkbackQueue.target - 512)
        var quanta = 1
        while let next = read(), !next.isLast { quanta += 1 }
        #expect(quanta == TalkbackQueue.target / 512 - 1 && queue.count < 512)
        // What is left is not enough for a quantum.
        for _ in 0...TalkbackQueue.longestWait { #expect(read() == nil) }
        #expect(queue.count == 0 && queue.dropped == TalkbackQueue.target % 512)
        queue.append([Float](repeating: 0.5, count: 1024), for: ["b"])
        for _ in 0..<TalkbackQueue.longestWait { #expect(read() == nil) }
        #expect(read() == TalkbackQuantum(hosts: ["b"], isLast: false))
        #expect(read() == TalkbackQuantum(hosts: ["b"], isLast: true) && read() == nil)
    }

    @Test("it is bounded: what is too much is dropped and counted, behind a fade")
    func bound() {
        var queue = TalkbackQueue()
        for _ in 0..<12 { queue.append([Float](repeating: 0.5, count: 4800), for: ["a"]) }
        #expect(queue.count == TalkbackQueue.capacity && queue.dropped == 2 * 4800)
        var buffer = [Float](repeating: 0, count: 512)
        let quantum = buffer.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { queue.read(into: $0, count: 512) }
        }
        #expect(quantum == TalkbackQuantum(hosts: ["a"], isLast: true))
        #expect(queue.count == TalkbackQueue.target)
        #expect(queue.dropped == 2 * 4800 + TalkbackQueue.capacity - 512 - TalkbackQueue.target)
    }
}
