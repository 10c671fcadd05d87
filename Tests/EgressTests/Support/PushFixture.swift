import Foundation
import Media
import Stage
import Synchronization

@testable import Egress

/// One push with everything it reported, and limits short enough for tests.
final class PushFixture: Sendable {
    let push: RTMPPush
    private let received: Latch<[OutputStatus]>

    static var quick: PushConfiguration {
        var configuration = PushConfiguration()
        configuration.connectDeadline = 1.5
        configuration.dialDeadline = 0.5
        configuration.callLimit = 0.5
        configuration.progressLimit = 1
        configuration.acceptance = 0.15
        configuration.farewell = 0.3
        configuration.backoff.initial = 0.2
        configuration.backoff.maximum = 0.5
        configuration.healthyAfter = 1
        configuration.slowRetry = 5
        configuration.videoTimeout = 0.3
        return configuration
    }

    init(
        _ name: String,
        url: String,
        key: String,
        spare: String? = nil,
        configuration: PushConfiguration = quick,
        policy: TargetPolicy = TargetPolicy(allowsPrivateAddresses: true)
    ) throws {
        let received = Latch<[OutputStatus]>([])
        self.received = received
        push = RTMPPush(
            name: name,
            address: try PushAddress(url: url, streamKey: key),
            spare: try spare.map { try PushAddress(url: $0, streamKey: key) },
            policy: policy,
            configuration: configuration
        ) { status in received.update { $0.append(status) } }
        push.start()
    }

    deinit { end() }

    /// Every status reported so far.
    var history: [OutputStatus] { received.update(wakes: false) { $0 } }

    /// Waits for a report, past ones included; nil when none came in time.
    func wait(seconds: Double = 20, for isWanted: @Sendable (OutputStatus) -> Bool) -> OutputStatus? {
        received.wait(until: .now().advanced(seconds: seconds)) { $0.last(where: isWanted) }
    }

    func waitFor(_ state: OutputStatus.State, seconds: Double = 20) -> OutputStatus? {
        wait(seconds: seconds) { $0.state == state }
    }

    /// Stops and waits for the thread; seconds it took.
    @discardableResult
    func end() -> Double {
        let start = MonotonicTime.now()
        push.stop()
        _ = push.waitUntilEnded(deadline: start.advanced(seconds: 5))
        return MonotonicTime.now().seconds(since: start)
    }
}
