import Synchronization

/// The tracks of one host that may pass from ingest into the host's feed.
///
/// The room updates it together with its state, before it emits the event; ingest reads it for each packet with one
/// relaxed load.
public final class TrackGate: Sendable {
    private let bits = Atomic<UInt8>(0)

    init() {}

    /// Whether media of a track may pass now.
    public func passes(_ name: TrackName) -> Bool {
        bits.load(ordering: .relaxed) & name.bit != 0
    }

    /// The tracks that may currently pass.
    public var openTracks: Set<TrackName> {
        let bits = bits.load(ordering: .relaxed)
        return Set(TrackName.allCases.filter { bits & $0.bit != 0 })
    }

    /// Passes exactly `tracks` from now on.
    func open(_ tracks: Set<TrackName>) {
        bits.store(tracks.reduce(0) { $0 | $1.bit }, ordering: .relaxed)
    }
}

extension TrackName {
    fileprivate var bit: UInt8 {
        switch self {
        case .mic: 1
        case .camera: 2
        case .screen: 4
        }
    }
}
