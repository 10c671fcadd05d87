/// Which part of a frame goes where on the canvas.
///
/// A crop may give up to 1/32 more of a side than the shapes ask for, if the frame then shrinks by exactly 3:4, 1:2,
/// 1:3 or 1:4 or not at all: those ratios cost the least. Tiles of a grid with gaps are a few pixels short of such
/// ratios, so nearly every tile of a usual program gains.
public struct FramePlacement: Sendable, Equatable {
    /// The part of the frame that is shown; `x` and `y` are even.
    public struct Crop: Sendable, Equatable {
        /// The column of its left edge.
        public var x: Int
        /// The row of its upper edge.
        public var y: Int
        /// Columns.
        public var width: Int
        /// Rows.
        public var height: Int
    }

    /// What of the frame is shown.
    public let crop: Crop
    /// Where on the canvas it is shown; around it are bars.
    public let target: PixelRectangle

    /// The shrinking ratios with fast paths, as source per target pixels.
    private static let fastRatios = [(1, 1), (4, 3), (2, 1), (3, 1), (4, 1)]

    /// Finds the place of a frame.
    ///
    /// - Parameters:
    ///   - width: Frame width in samples, at least 1.
    ///   - height: Frame height in samples, at least 1.
    ///   - aspect: The shape of its samples.
    ///   - rectangle: Where it is to be shown; not empty.
    ///   - fit: Whether it is cropped or gets bars.
    public init(width: Int, height: Int, aspect: SampleAspectRatio, rectangle: PixelRectangle, fit: FrameFit) {
        // The shapes compared as width : height without fractions.
        let frameSpan = width * aspect.horizontal * rectangle.height
        let targetSpan = rectangle.width * aspect.vertical * height
        switch fit {
        case .fit:
            crop = Crop(x: 0, y: 0, width: width, height: height)
            target = Self.letterbox(rectangle, frameSpan: frameSpan, targetSpan: targetSpan)
        case .fill:
            var crop = Crop(x: 0, y: 0, width: width, height: height)
            if frameSpan > targetSpan {
                crop.width = Self.scaled(width, by: targetSpan, over: frameSpan)
            } else if frameSpan < targetSpan {
                crop.height = Self.scaled(height, by: frameSpan, over: targetSpan)
            }
            if aspect == .square, let fast = Self.fastCrop(within: crop, width: width, height: height, rectangle) {
                crop = fast
            }
            crop.x = (width - crop.width) / 2 & ~1
            crop.y = (height - crop.height) / 2 & ~1
            self.crop = crop
            target = rectangle
        case .between(let way):
            (crop, target) = Self.between(width, height, aspect, rectangle, way)
        }
    }

    /// The frame in a size between the two: what of it is too large is cropped, where it is too small there are bars.
    private static func between(
        _ width: Int,
        _ height: Int,
        _ aspect: SampleAspectRatio,
        _ rectangle: PixelRectangle,
        _ way: Double
    ) -> (Crop, PixelRectangle) {
        let ratio = Double(width * aspect.horizontal) / Double(height * aspect.vertical)
        let (across, down) = (Double(rectangle.width), Double(rectangle.height))
        let (covering, standing) = (max(across, down * ratio), min(across, down * ratio))
        // How wide all of the frame is.
        let whole = covering + (standing - covering) * min(max(way.isNaN ? 1 : way, 0), 1)
        let target = centred(
            in: rectangle,
            width: min(max(2 * Int((whole / 2).rounded()), 2), rectangle.width),
            height: min(max(2 * Int((whole / ratio / 2).rounded()), 2), rectangle.height)
        )
        let columns = max(Int((Double(width) * min(across / whole, 1)).rounded()), 1)
        let rows = max(Int((Double(height) * min(down * ratio / whole, 1)).rounded()), 1)
        return (Crop(x: (width - columns) / 2 & ~1, y: (height - rows) / 2 & ~1, width: columns, height: rows), target)
    }

    private static func scaled(_ length: Int, by numerator: Int, over denominator: Int) -> Int {
        max((length * numerator + denominator / 2) / denominator, 1)
    }

    private static func letterbox(_ rectangle: PixelRectangle, frameSpan: Int, targetSpan: Int) -> PixelRectangle {
        var (width, height) = (rectangle.width, rectangle.height)
        if frameSpan > targetSpan {
            height = max((scaled(height, by: targetSpan, over: frameSpan) + 1) & ~1, 2)
        } else if frameSpan < targetSpan {
            width = max((scaled(width, by: frameSpan, over: targetSpan) + 1) & ~1, 2)
        }
        return centred(in: rectangle, width: min(width, rectangle.width), height: min(height, rectangle.height))
    }

    private static func centred(in rectangle: PixelRectangle, width: Int, height: Int) -> PixelRectangle {
        PixelRectangle(
            x: rectangle.x + (rectangle.width - width) / 2 & ~1,
            y: rectangle.y + (rectangle.height - height) / 2 & ~1,
            width: width,
            height: height
        )
    }

    private static func fastCrop(within crop: Crop, width: Int, height: Int, _ rectangle: PixelRectangle) -> Crop? {
        for (source, target) in fastRatios {
            // Chroma has to shrink by the same exact ratio.
            guard rectangle.width / 2 * source % target == 0, rectangle.height / 2 * source % target == 0 else {
                continue
            }
            let fastWidth = rectangle.width * source / target
            let fastHeight = rectangle.height * source / target
            guard fastWidth <= width, fastHeight <= height else { continue }
            if crop.width - fastWidth <= crop.width / 32, crop.height - fastHeight <= crop.height / 32 {
                return Crop(x: 0, y: 0, width: fastWidth, height: fastHeight)
            }
        }
        return nil
    }
}

/// How a frame is put into a rectangle of another shape.
public enum FrameFit: Sendable, Hashable {
    /// The rectangle is covered; what juts out is cropped evenly on both sides.
    case fill
    /// The whole frame is seen; bars fill the rest.
    case fit
    /// So much of the way from `fill`, 0, to `fit`, 1.
    case between(Double)
}
