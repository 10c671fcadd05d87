import Codecs
import Stage

/// How a host is seen in the program, which says what of its pictures need not be decoded.
enum HostView: Sendable, Equatable {
    /// As it is, or it is not known yet.
    case whole
    /// In a tile of so many pixels; the largest, if there are several.
    case tile(width: Int, height: Int, fit: PictureFit = .fill)
    /// In no tile.
    case hidden

    /// A picture that shrinks by so much shows nothing of the edges that deblocking would have smoothed.
    private static let shrinking = (source: 4, target: 3)

    /// What a decoder may leave out of pictures of this size; nil while none is known.
    func economy(of size: (width: Int, height: Int)?) -> VideoDecoder.Economy {
        guard case .tile(let width, let height, _) = self, let size else { return .none }
        let (source, target) = Self.shrinking
        let isShrunk = size.width * target >= width * source && size.height * target >= height * source
        return isShrunk ? .roughDisposable : .none
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
        let shown = tiles.filter { $0.participantSID == host }
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
