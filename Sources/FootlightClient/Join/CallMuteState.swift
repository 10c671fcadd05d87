/// Whether others see or hear a device.
public enum CallMuteState: Sendable, Hashable {
    case muted
    case unmuted
}
