#if canImport(SwiftUI)
public import SwiftUI

#if canImport(UIKit)
public import AVFoundation
#endif

/// A participant's tile: a video, or the placeholder without one, with the name and the microphone's state.
///
/// This file is compiled on Apple platforms only, where the project's own machines do not test it.
public struct ParticipantTile<Video: View>: View {
    private let content: ParticipantTileContent
    private let video: Video

    /// Creates a tile.
    ///
    /// - Parameter video: The participant's video as it is to be seen; a ``CameraPreview`` mirrors the camera that faces
    ///   the user by itself.
    public init(_ content: ParticipantTileContent, @ViewBuilder video: () -> Video) {
        self.content = content
        self.video = video()
    }

    /// The tile.
    public var body: some View {
        ZStack(alignment: .bottomLeading) {
            switch content.content {
            case .video:
                video
                    .aspectRatio(contentMode: content.scaleMode == .fit ? .fit : .fill)
                    .frame(maxWidth: .infinity, maxHeight: .infinity)
                    .clipped()
            case .placeholder(let placeholder):
                VStack {
                    Text(placeholder.name).font(.headline)
                    if let status = placeholder.status { Text(status).font(.subheadline) }
                }
                .frame(maxWidth: .infinity, maxHeight: .infinity)
            }
            Label(content.label, systemImage: content.isMicOn ? "mic.fill" : "mic.slash.fill")
                .padding(6)
                .background(.thinMaterial, in: .rect(cornerRadius: 6))
                .padding(6)
        }
        .background(.black.opacity(0.8))
        .foregroundStyle(.white)
        .accessibilityElement(children: .ignore)
        .accessibilityLabel("\(content.label), microphone \(content.isMicOn ? "on" : "off")")
    }
}

#if canImport(UIKit)
/// The camera as its owner sees it.
public struct CameraPreview: UIViewRepresentable {
    private let session: AVCaptureSession

    /// Creates the preview of a capture, see ``DeviceCapture/session``.
    public init(_ session: AVCaptureSession) {
        self.session = session
    }

    /// The view whose layer shows the camera.
    public final class PreviewView: UIView {
        /// The layer's class.
        public override class var layerClass: AnyClass { AVCaptureVideoPreviewLayer.self }
    }

    /// Creates the view.
    public func makeUIView(context: Context) -> PreviewView {
        let view = PreviewView()
        if let layer = view.layer as? AVCaptureVideoPreviewLayer {
            layer.session = session
            layer.videoGravity = .resizeAspect
        }
        return view
    }

    /// Does nothing: the session stays the same.
    public func updateUIView(_ view: PreviewView, context: Context) {}
}
#endif
#endif
