import Codecs
import Media
import Stage

/// How a host is shown in the program, which determines how much of its video is decoded.
enum HostVisibility: Sendable, Equatable {
    /// At full quality, or not known yet.
    case whole
    /// In a tile of this many pixels; the largest, if there are several.
    case tile(width: Int, height: Int, fit: FrameFit = .fill)
    /// In no tile, or only in covered ones.
    case hidden

    /// At this downscaling ratio, the edges that deblocking would smooth are invisible.
    private static let shrinking = (source: 4, target: 3)
    /// At this ratio, even artifacts that propagate between frames stay invisible until the next keyframe.
    private static let shrinkingFar = (source: 3, target: 1)
    /// The longest GOP in frames for which that holds: three seconds at 60 frames a second, six at 30.
    private static let longestGOP = 180

    /// Returns what a decoder may skip.
    ///
    /// - Parameters:
    ///   - size: The size of the frames; nil while it is unknown.
    ///   - gopLength: Frames from one keyframe to the next, as far as known; nil while unknown.
    func economy(of size: (width: Int, height: Int)?, gopLength: Int?) -> VideoDecoder.Economy {
        guard case .tile(let width, let height, _) = self, let size else { return .none }
        func shrinks(by ratio: (source: Int, target: Int)) -> Bool {
            size.width * ratio.target >= width * ratio.source && size.height * ratio.target >= height * ratio.source
        }
        if shrinks(by: Self.shrinkingFar), let gopLength, gopLength <= Self.longestGOP { return .skipDeblockingNonKey }
        return shrinks(by: Self.shrinking) ? .skipDeblockingDisposable : .none
    }

    /// The size in which frames will be shown; nil where it is unknown.
    var reduction: DownscaleTarget? {
        guard case .tile(let width, let height, let fit) = self else { return nil }
        return DownscaleTarget(width: width & ~1, height: height & ~1, fit: fit)
    }
}

extension Scene {
    /// Returns how a host is shown.
    ///
    /// A concealed host does not count as hidden: no frame that it sends meanwhile may be kept for later.
    func visibility(of host: String) -> HostVisibility {
        let shown = tiles.indices.filter { tiles[$0].participantSID == host && !isCovered($0) }.map { tiles[$0] }
        guard !shown.isEmpty, slate == nil else { return concealed.contains(host) ? .whole : .hidden }
        // A screen share may have to be readable.
        guard shown.allSatisfy({ $0.source == .camera }) else { return .whole }
        return .tile(
            width: shown.map(\.rectangle.width).max() ?? 0,
            height: shown.map(\.rectangle.height).max() ?? 0,
            fit: shown.allSatisfy { $0.scaleMode == .fill } ? .fill : .fit
        )
    }
}

/// Schedules a host's visibility per frame: set by the program's thread, followed by the decode thread.
///
/// A different tile takes effect from a frame on that is not decoded yet, chosen by timestamps and not by the decode
/// thread's timing, so that a recording of the arrivals repeats it. A host that gets a tile again is visible at once:
/// all frames stored meanwhile are decoded for the new tile.
struct HostVisibilitySchedule: Sendable {
    /// Milliseconds added to the decode lead: the usual lateness of either thread.
    static let margin = 50.0
    /// The maximum number of changes that wait for their frame.
    private static let maximumQueued = 8

    /// The visibility for which frames are decoded now.
    private(set) var visibility = HostVisibility.whole
    /// Incremented whenever the host gets a tile again.
    private(set) var reappearances = 0
    private var waiting: [(visibility: HostVisibility, from: Double)] = []

    /// The visibility set last.
    var newest: HostVisibility { waiting.last?.visibility ?? visibility }

    /// - Parameter start: The host time, in milliseconds, of the first frame decoded for it; nil for at once.
    mutating func change(to visibility: HostVisibility, from start: Double?) {
        let newest = newest
        guard visibility != newest else { return }
        if newest == .hidden { reappearances += 1 }
        guard newest != .hidden, let start else {
            waiting.removeAll()
            self.visibility = visibility
            return
        }
        if waiting.count == Self.maximumQueued { self.visibility = waiting.removeFirst().visibility }
        waiting.append((visibility, start))
    }

    /// Returns the host's visibility for the frame in `packet`, or for the last one without a packet.
    mutating func follow(_ packet: MediaPacket?) -> HostVisibility {
        guard let packet, packet.isVideo, !packet.isConfiguration else { return visibility }
        while let next = waiting.first, Double(packet.timestamp) >= next.from {
            visibility = next.visibility
            waiting.removeFirst()
        }
        return visibility
    }
}
