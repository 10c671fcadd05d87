/// A number of viewers that a broadcast has reached for the first time; what `viewership.threshold` is about.
public struct ThresholdResource: Codable, Sendable, Hashable {
    /// The number.
    public var threshold: Int
    /// The room's figures at that time.
    public var viewership: ViewershipResource

    /// Makes a description.
    public init(threshold: Int, viewership: ViewershipResource) {
        self.threshold = threshold
        self.viewership = viewership
    }
}
