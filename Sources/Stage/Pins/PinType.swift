/// Which of a host's pictures a pin is about.
public enum PinType: String, Sendable, Hashable, Codable, CaseIterable {
    case screenAndCamera = "SHARE_AND_CAM"
    case camera = "CAM"
    case screen = "SHARE"
}
