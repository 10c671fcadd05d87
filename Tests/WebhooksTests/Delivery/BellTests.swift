import Testing

@testable import Webhooks

@Suite("The bell of a webhook")
struct BellTests {
    @Test("A ring that nobody waited for is kept, once; time and cancellation end a wait", .timeLimit(.minutes(1)))
    func rings() async {
        let bell = Bell()
        bell.ring()
        bell.ring()
        await bell.wait()
        let start = ContinuousClock.now
        await bell.wait(atMost: 0.05)
        #expect(ContinuousClock.now - start > .milliseconds(40))
        let waiting = Task { await bell.wait() }
        waiting.cancel()
        await waiting.value
        let woken = Task { await bell.wait(atMost: 30) }
        bell.ring()
        await woken.value
    }
}
