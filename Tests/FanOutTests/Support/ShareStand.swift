@testable import FanOut
import Media
import NIOCore
import Stage
import Synchronization

/// One loop's share of a feed on a clock that is moved by hand.
final class ShareStand {
    let counters = FeedCounters()
    let share: FeedShare
    let audience = RecordingAudience()
    let budget: AudienceBudget
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)

    /// - Parameter budget: What the share has in common with others; nil for one of its own.
    init(_ configuration: FanOutConfiguration = FanOutConfiguration(), budget: AudienceBudget? = nil) {
        self.budget = budget ?? AudienceBudget(configuration)
        self.budget.feeds.add(1, ordering: .relaxed)
        share = FeedShare(
            configuration: configuration,
            tick: configuration.tick,
            counters: counters,
            budget: self.budget,
            copies: ViewerWire.allCases.count,
            sent: self.budget.sent
        )
    }

    func wait(_ seconds: Double) { now = now.advanced(seconds: seconds) }

    func join(_ wire: ViewerWire = .flv, sid: String? = nil) -> (viewer: Viewer, output: RecordingOutput) {
        let output = RecordingOutput()
        let session = sid.map { ViewerSession(sid: $0, room: "r", playback: .flv, audience: audience) }
        let viewer = Viewer(output: output, writer: output, wire: wire, session: session)
        share.add(viewer, now: now)
        return (viewer, output)
    }

    func send(_ packets: MediaPacket...) { share.deliver(packets, now: now) }
}
