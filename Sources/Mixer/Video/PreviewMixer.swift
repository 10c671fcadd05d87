import Codecs
public import Stage

/// Composes the preview: the scene as it would be on air, while the program shows the slate.
///
/// It has canvases of its own, so that no frame of it can get into the program, and about 15 frames per second. Hosts are
/// shown either here or in the program. Owned by the program's thread.
struct PreviewMixer {
    private let ring: CanvasRing
    private let frameRate: FrameRate
    private let step: Int64
    private var video: VideoMixer

    /// - Throws: `CodecError` without the memory for the canvases.
    init(
        of program: ProgramConfiguration,
        overlayCache: OverlayCache,
        requestRendering: @escaping () -> Void
    ) throws(CodecError) {
        ring = try CanvasRing(width: program.width, height: program.height)
        frameRate = program.frameRate
        step = Int64(Rendition.previewStep(of: program))
        video = VideoMixer(
            ring: ring,
            rate: program.frameRate.perSecond / Double(step),
            overlayCache: overlayCache,
            requester: .preview,
            requestRendering: requestRendering
        )
    }

    /// Applies the preview's scene from the next frame on.
    mutating func apply(_ scene: Scene) { video.apply(scene) }

    /// Composes program frame `index`, which begins at `sample`; nil for one that is not in the preview.
    mutating func compose(_ index: Int64, sample: Int64, hosts: [String: ProgramHost]) -> Canvas? {
        guard index % step == 0 else { return nil }
        let previous = frameRate.sample(ofFrame: index - step)
        return video.compose(at: sample, after: previous, hosts: hosts).map { ring.canvases[$0] }
    }
}

extension Rendition {
    /// The longest side of a preview in pixels.
    private static let previewSide = 640
    /// The usual frame rate of a preview.
    private static let previewRate = 15.0

    /// Returns the number of program frames for each frame of the preview.
    static func previewStep(of program: ProgramConfiguration) -> Int {
        max(Int((program.frameRate.perSecond / previewRate).rounded()), 1)
    }

    /// The size, frame rate and bitrate of the preview of a program.
    public init(previewOf program: ProgramConfiguration) {
        let longest = max(program.width, program.height)
        func scaled(_ side: Int) -> Int { max(side * min(Self.previewSide, longest) / longest & ~1, 16) }
        let rate = program.frameRate
        let (width, height) = (scaled(program.width), scaled(program.height))
        self.init(
            name: Scene.previewMix,
            width: width,
            height: height,
            frameRate: FrameRate(rate.numerator, per: rate.denominator * Self.previewStep(of: program)),
            videoBitrate: ProgramQuality.videoBitrate(width: width, height: height, frameRate: FrameRate(30)) / 2
        )
    }
}
