import Media
import Testing

@Suite("Async signal")
struct AsyncSignalTests {
    @Test("stores one signal without a waiter; timeout and cancellation end a wait", .timeLimit(.minutes(1)))
    func rings() async {
        let signal = AsyncSignal()
        signal.fire()
        signal.fire()
        await signal.wait()
        let start = ContinuousClock.now
        await signal.wait(atMost: 0.05)
        #expect(ContinuousClock.now - start > .milliseconds(40))
        let waiting = Task { await signal.wait() }
        waiting.cancel()
        await waiting.value
        let woken = Task { await signal.wait(atMost: 30) }
        signal.fire()
        await woken.value
    }
}
