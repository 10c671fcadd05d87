@testable import Gateway
import Stage
import Testing

@Suite("What is new about a livestream")
struct LivestreamNewsTests {
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

    @Test("D35 Each output that is in another state is told by itself")
    func outputs() {
        let begun = status(output("a", .connecting), output("b", .connecting), state: .starting)
        #expect(LivestreamNews.changed(from: nil, to: begun).isEmpty)
        let connected = status(output("a", .connected), output("b", .connecting))
        #expect(LivestreamNews.changed(from: begun, to: connected).map(\.name) == ["a"])
        let lost = status(output("a", .interrupted, error: "gone"), output("b", .connected))
        #expect(LivestreamNews.changed(from: connected, to: lost).map(\.state) == [.interrupted, .connected])
        let still = status(output("a", .interrupted, error: "refused"), output("b", .connected))
        #expect(LivestreamNews.changed(from: lost, to: still).map(\.lastError) == ["refused"])
        #expect(LivestreamNews.changed(from: still, to: still).isEmpty)
    }

    @Test("The livestream itself is news when its state or its set of outputs is another")
    func states() {
        let one = status(output("a", .connected))
        #expect(LivestreamNews.isOtherState(nil, one))
        #expect(!LivestreamNews.isOtherState(one, status(output("a", .interrupted))))
        #expect(LivestreamNews.isOtherState(one, status(output("a", .connected), output("b", .connecting))))
        #expect(LivestreamNews.isOtherState(one, status(output("a", .connected), state: .stopping)))
    }
}
