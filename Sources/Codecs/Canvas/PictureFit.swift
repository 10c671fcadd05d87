/// How a picture is put into a rectangle of another shape.
public enum PictureFit: Sendable, Hashable {
    /// The rectangle is covered; what juts out is cropped evenly on both sides.
    case fill
    /// The whole picture is seen; bars fill the rest.
    case fit
    /// So much of the way from `fill`, 0, to `fit`, 1.
    case between(Double)
}
