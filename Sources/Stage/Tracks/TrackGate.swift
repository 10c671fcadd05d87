import Synchronization

/// Which tracks of one host may pass from ingest into the host's feed at this moment.
///
/// The stage sets it together with the state it follows from, before anybody hears of the change; ingest reads it for
/// each packet, at the price of one relaxed load.
public final class TrackGate: Sendable {
    private let bits = Atomic<UInt8>(0)

    init() {}

    /// Whether media of a track may pass now.
    public func passes(_ name: TrackName) -> Bool {
        bits.load(ordering: .relaxed) & name.bit != 0
    }

    /// The tracks that may pass now.
    public var openTracks: Set<TrackName> {
        let bits = bits.load(ordering: .relaxed)
        return Set(TrackName.allCases.filter { bits & $0.bit != 0 })
    }

    /// Lets exactly `tracks` pass from now on.
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
