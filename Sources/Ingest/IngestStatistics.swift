public import Stage
import Synchronization

/// The counters of host ingest.
public struct IngestStatistics: Sendable, Equatable {
    /// The number of publishing connections.
    public var publishers = 0
    /// The video frames of disabled or unpublished tracks dropped over all hosts.
    public var droppedVideoFrames: UInt64 = 0
    /// The audio frames of disabled or unpublished tracks dropped over all hosts.
    public var droppedAudioFrames: UInt64 = 0
    /// The number of times that an open connection sent nothing of a track for seconds.
    public var interruptions: UInt64 = 0
    /// The received bytes of each publishing connection.
    public var received: [Received] = []

    /// The received bytes of one connection.
    public struct Received: Sendable, Equatable {
        /// The unique name of the room.
        public let room: String
        /// The identity of the host.
        public let identity: String
        /// The source that the connection publishes.
        public let source: PublishSource
        /// The bytes of audio, video and configurations, including dropped ones.
        public let bytes: UInt64
    }

    /// Creates zero counters.
    public init() {}
}

/// The counters behind `IngestStatistics`, incremented on every host's event loop.
final class IngestCounters: Sendable {
    private let droppedVideoFrames = Atomic<UInt64>(0)
    private let droppedAudioFrames = Atomic<UInt64>(0)
    private let interruptions = Atomic<UInt64>(0)

    func add(droppedVideoFrames video: UInt64, droppedAudioFrames audio: UInt64) {
        droppedVideoFrames.add(video, ordering: .relaxed)
        droppedAudioFrames.add(audio, ordering: .relaxed)
    }

    func interrupted() {
        interruptions.add(1, ordering: .relaxed)
    }

    /// Returns the current values.
    func snapshot(_ received: [IngestStatistics.Received], publishers: Int) -> IngestStatistics {
        var statistics = IngestStatistics()
        statistics.publishers = publishers
        statistics.received = received
        statistics.droppedVideoFrames = droppedVideoFrames.load(ordering: .relaxed)
        statistics.droppedAudioFrames = droppedAudioFrames.load(ordering: .relaxed)
        statistics.interruptions = interruptions.load(ordering: .relaxed)
        return statistics
    }
}

/// Counts the bytes of one connection; incremented on its event loop, read by reports.
final class ReceivedByteCounter: Sendable {
    private let count = Atomic<UInt64>(0)

    func add(_ bytes: Int) { count.add(UInt64(bytes), ordering: .relaxed) }

    var total: UInt64 { count.load(ordering: .relaxed) }
}
