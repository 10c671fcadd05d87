@testable import Gateway
import Stage
import Testing

@Suite("Changes of a livestream")
struct LivestreamEventEmitterTests {
    private func output(_ name: String, _ state: OutputStatus.State, error: String? = nil) -> OutputStatus {
        let fault = error.map { OutputFault(.unreachable, $0, retry: .soon) }
        return OutputStatus(
            name: name,
            url: "rtmp://host/live",
            maskedStreamKey: "****",
            state: state,
            lastFault: fault
        )
    }

    private func status(_ outputs: OutputStatus..., state: LivestreamStatus.State = .started) -> LivestreamStatus {
        LivestreamStatus(state: state, outputs: outputs)
    }

    @Test("D35 reports each output with another state or error")
    func outputs() {
        let begun = status(output("a", .connecting), output("b", .connecting), state: .starting)
        #expect(LivestreamEventEmitter.changed(from: nil, to: begun).isEmpty)
        let connected = status(output("a", .connected), output("b", .connecting))
        #expect(LivestreamEventEmitter.changed(from: begun, to: connected).map(\.name) == ["a"])
        let lost = status(output("a", .interrupted, error: "gone"), output("b", .connected))
        #expect(LivestreamEventEmitter.changed(from: connected, to: lost).map(\.state) == [.interrupted, .connected])
        let still = status(output("a", .interrupted, error: "refused"), output("b", .connected))
        #expect(LivestreamEventEmitter.changed(from: lost, to: still).map(\.lastError) == ["refused"])
        #expect(LivestreamEventEmitter.changed(from: still, to: still).isEmpty)
    }

    @Test("reports the livestream if its state or its set of outputs changes")
    func states() {
        let one = status(output("a", .connected))
        #expect(LivestreamEventEmitter.stateChanged(nil, one))
        #expect(!LivestreamEventEmitter.stateChanged(one, status(output("a", .interrupted))))
        #expect(LivestreamEventEmitter.stateChanged(one, status(output("a", .connected), output("b", .connecting))))
        #expect(LivestreamEventEmitter.stateChanged(one, status(output("a", .connected), state: .stopping)))
    }
}
