public import Stage

/// How the local camera is shown to its owner: whole, at its own shape, never cropped.
public struct LocalPreview: Sendable, Equatable {
    /// Width by height of the preview.
    public let aspectRatio: Double
    /// Always the whole picture.
    public let scaleMode = VideoScaleMode.fit
    /// As in a mirror, while the camera faces the user.
    public let isMirrored: Bool

    /// Makes the preview of a device held so, with this camera.
    public init(orientation: Orientation, camera: CallSettings.CameraPosition) {
        aspectRatio =
            switch orientation {
            case .portrait: 720.0 / 1280
            case .landscape: 1280.0 / 720
            }
        isMirrored = camera == .front
    }
}
