/// The shape of one sample: how much wider than high it is shown.
public struct SampleAspectRatio: Sendable, Equatable {
    /// Width of a sample, in parts of `vertical`.
    public let horizontal: Int
    /// Height of a sample, in parts of `horizontal`.
    public let vertical: Int

    /// Samples as wide as high.
    public static let square = SampleAspectRatio(1, 1)

    /// Nonsense (zero, negative, or thinner than 1:8) becomes square.
    public init(_ horizontal: Int, _ vertical: Int) {
        guard horizontal > 0, vertical > 0, horizontal <= 8 * vertical, vertical <= 8 * horizontal else {
            self.horizontal = 1
            self.vertical = 1
            return
        }
        self.horizontal = horizontal
        self.vertical = vertical
    }
}
