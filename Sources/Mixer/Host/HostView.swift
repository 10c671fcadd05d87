import Codecs
import Stage

/// How a host is seen in the program, which says what of its pictures need not be decoded.
enum HostView: Sendable, Equatable {
    /// As it is, or it is not known yet.
    case whole
    /// In a tile of so many pixels; the largest, if there are several.
    case tile(width: Int, height: Int, fit: PictureFit = .fill)
    /// In no tile, or in none that anything is seen of.
    case hidden

    /// A picture that shrinks by so much shows nothing of the edges that deblocking would have smoothed.
    private static let shrinking = (source: 4, target: 3)
    /// Of one that shrinks by so much, even what is carried on from picture to picture is not seen before the next key
    /// picture ends it.
    private static let shrinkingFar = (source: 3, target: 1)
    /// Pictures of the longest group in which that may be: three seconds at sixty a second, six at thirty.
    private static let longestGroup = 180

    /// What a decoder may leave out.
    ///
    /// - Parameters:
    ///   - size: Of the pictures; nil while none is known.
    ///   - group: Pictures from one key picture to the next, as far as they were seen; nil while none are known.
    func economy(of size: (width: Int, height: Int)?, group: Int?) -> VideoDecoder.Economy {
        guard case .tile(let width, let height, _) = self, let size else { return .none }
        func shrinks(by ratio: (source: Int, target: Int)) -> Bool {
            size.width * ratio.target >= width * ratio.source && size.height * ratio.target >= height * ratio.source
        }
        if shrinks(by: Self.shrinkingFar), let group, group <= Self.longestGroup { return .roughAll }
        return shrinks(by: Self.shrinking) ? .roughDisposable : .none
    }

    /// The size in which pictures will be shown; nil where it is not known.
    var reduction: PictureReduction? {
        guard case .tile(let width, let height, let fit) = self else { return nil }
        return PictureReduction(width: width & ~1, height: height & ~1, fit: fit)
    }
}

extension Scene {
    /// How a host is seen.
    ///
    /// A host that may not be seen is none that is hidden: nothing of what it sends meanwhile may be kept for later.
    func view(of host: String) -> HostView {
        let shown = tiles.indices.filter { tiles[$0].participantSID == host && !isCovered($0) }.map { tiles[$0] }
        guard !shown.isEmpty, slate == nil else { return concealed.contains(host) ? .whole : .hidden }
        // A screen may be read.
        guard shown.allSatisfy({ $0.source == .camera }) else { return .whole }
        return .tile(
            width: shown.map(\.rectangle.width).max() ?? 0,
            height: shown.map(\.rectangle.height).max() ?? 0,
            fit: shown.allSatisfy { $0.scaleMode == .fill } ? .fill : .fit
        )
    }
}
