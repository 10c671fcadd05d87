/// The body of `PUT /v1/rooms/{room}/participants/{participant}/pin`.
public struct PinBody: Codable, Sendable, Hashable {
    /// `SHARE_AND_CAM`, `CAM` or `SHARE`; the first when left out.
    public var pinType: String?

    /// Makes a body; what is left out is nil.
    public init(pinType: String? = nil) {
        self.pinType = pinType
    }

    private enum CodingKeys: String, CodingKey {
        case pinType = "pin_type"
    }
}
