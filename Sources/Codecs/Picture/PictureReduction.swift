/// The smaller size in which the pictures of a stream are going to be shown.
///
/// A decoder that knows it makes each picture in that size too, row by row as it is decoded: then the rows still lie in
/// the processor's cache, while a whole picture has left it before its turn comes.
public struct PictureReduction: Sendable, Equatable {
    /// Pixels of the tile, even.
    public var width: Int
    /// Pixels of the tile, even.
    public var height: Int
    /// How a picture gets into a tile of another shape.
    public var fit: PictureFit

    /// Makes one from its parts.
    public init(width: Int, height: Int, fit: PictureFit) {
        self.width = width
        self.height = height
        self.fit = fit
    }

    /// Which part of a picture is scaled to which size; nil when nothing is gained.
    func framing(width: Int, height: Int, aspect: SampleAspectRatio) -> PictureFraming? {
        let rectangle = PixelRectangle(x: 0, y: 0, width: self.width, height: self.height)
        guard !rectangle.isEmpty, width > 0, height > 0 else { return nil }
        let framing = PictureFraming(width: width, height: height, aspect: aspect, rectangle: rectangle, fit: fit)
        let (crop, target) = (framing.crop, framing.target)
        // A copy that is hardly smaller than the picture is no quicker to be fetched.
        guard 3 * crop.width * crop.height >= 4 * target.width * target.height else { return nil }
        return framing
    }
}
