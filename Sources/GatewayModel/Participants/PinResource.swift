/// Holds a participant on stage.
public struct PinResource: Codable, Sendable, Hashable {
    /// Set by the participant itself and not by who runs the show.
    public var isLocal: Bool
    /// `SHARE_AND_CAM`, `CAM` or `SHARE`.
    public var pinType: String
    /// When it was set.
    public var pinnedAt: Timestamp

    /// Makes a pin.
    public init(isLocal: Bool, pinType: String, pinnedAt: Timestamp) {
        self.isLocal = isLocal
        self.pinType = pinType
        self.pinnedAt = pinnedAt
    }

    private enum CodingKeys: String, CodingKey {
        case isLocal = "is_local"
        case pinType = "pin_type"
        case pinnedAt = "pinned_at"
    }
}
