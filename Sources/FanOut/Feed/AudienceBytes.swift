import Stage
import Synchronization

/// Bytes of media and playlists that viewers were given since the start, by how they watch; feeds that are over included.
///
/// Added to on every event loop; read for reports.
final class AudienceBytes: Sendable {
    private let rtmp = Atomic<UInt64>(0)
    private let flv = Atomic<UInt64>(0)
    private let hls = Atomic<UInt64>(0)

    func add(_ bytes: UInt64, by playback: PlaybackProtocol) {
        switch playback {
        case .rtmp: rtmp.add(bytes, ordering: .relaxed)
        case .flv: flv.add(bytes, ordering: .relaxed)
        case .hls, .llhls, .sdk: hls.add(bytes, ordering: .relaxed)
        }
    }

    /// All so far; segments are the same for players of low latency and others, so these are not told apart.
    var totals: [PlaybackProtocol: UInt64] {
        [
            .rtmp: rtmp.load(ordering: .relaxed), .flv: flv.load(ordering: .relaxed),
            .hls: hls.load(ordering: .relaxed),
        ]
    }
}
