/// The largest image files that are taken.
public enum ImageLimits {
    /// Bytes of a file.
    public static let bytes = 5 << 20
    /// Longest side in pixels.
    public static let side = 4096
    /// Scans of a progressive JPEG: each goes over the whole image, however few bytes it has.
    static let scans = 64
}
