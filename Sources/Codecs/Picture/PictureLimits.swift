/// The largest pictures a decoder accepts from a host.
public enum PictureLimits {
    /// Longest side in pixels.
    public static let side = 4096
    /// Pixels in all; a peer that asks for more memory is refused before it is allocated.
    public static let pixels = 4096 * 2304
}
