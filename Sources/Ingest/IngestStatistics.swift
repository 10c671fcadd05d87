public import Stage
import Synchronization

/// What the door for hosts has counted since it was opened.
public struct IngestStatistics: Sendable, Equatable {
    /// Connections that publish now.
    public var publishers = 0
    /// Pictures of disabled or withdrawn tracks that were dropped, over all hosts.
    public var droppedPictures: UInt64 = 0
    /// Frames of sound of disabled or withdrawn tracks that were dropped, over all hosts.
    public var droppedSounds: UInt64 = 0
    /// Times an open connection sent nothing of a track for seconds.
    public var interruptions: UInt64 = 0
    /// Connections that publish now, and what came by each of them.
    public var received: [Received] = []

    /// What came by one connection since it was let in.
    public struct Received: Sendable, Equatable {
        /// The room's unique name.
        public let room: String
        /// The host's identity.
        public let identity: String
        /// What the connection stands for.
        public let source: PublishSource
        /// Bytes of pictures, sound and configurations, the refused and dropped ones included.
        public let bytes: UInt64
    }

    /// Nothing counted yet.
    public init() {}
}

/// The counters behind `IngestStatistics`; added to from every host's event loop.
final class IngestCounters: Sendable {
    private let droppedPictures = Atomic<UInt64>(0)
    private let droppedSounds = Atomic<UInt64>(0)
    private let interruptions = Atomic<UInt64>(0)

    func add(droppedPictures pictures: UInt64, droppedSounds sounds: UInt64) {
        droppedPictures.add(pictures, ordering: .relaxed)
        droppedSounds.add(sounds, ordering: .relaxed)
    }

    func interrupted() {
        interruptions.add(1, ordering: .relaxed)
    }

    /// The figures now.
    func snapshot(_ received: [IngestStatistics.Received], publishers: Int) -> IngestStatistics {
        var statistics = IngestStatistics()
        statistics.publishers = publishers
        statistics.received = received
        statistics.droppedPictures = droppedPictures.load(ordering: .relaxed)
        statistics.droppedSounds = droppedSounds.load(ordering: .relaxed)
        statistics.interruptions = interruptions.load(ordering: .relaxed)
        return statistics
    }
}
