import Codecs
import Media
import Stage

/// The picture side of a rendition: its canvases and its encoder.
///
/// `@unchecked Sendable`: a canvas is painted by the program's encoder thread and read by the rendition's own, one after
/// the other, as its queue orders it; the encoder is the rendition's alone.
final class RungPictures: @unchecked Sendable {
    /// One is coded, one waits, one is painted.
    static let canvasCount = 3

    let canvases: [Canvas]
    /// One picture of so many of the program's.
    let step: Int64
    let configuration: MediaPacket
    private var encoder: ThriftyCoder
    private let frameRate: FrameRate

    init(
        _ rendition: Rendition,
        of program: ProgramConfiguration,
        encoderOptions: String,
        firstTimestamp: Int64
    ) throws(CodecError) {
        let step = rendition.step(in: program) ?? 1
        var canvases: [Canvas] = []
        for _ in 0..<Self.canvasCount {
            canvases.append(try Canvas(width: rendition.width, height: rendition.height))
        }
        let encoder = try ThriftyCoder(
            VideoEncoderConfiguration(
                width: rendition.width,
                height: rendition.height,
                frameRateNumerator: program.frameRate.numerator,
                frameRateDenominator: program.frameRate.denominator * step,
                bitrate: rendition.videoBitrate * 1000,
                preset: program.preset,
                keyInterval: max(program.pictureGroupLength / step, 1),
                options: encoderOptions
            )
        )
        self.canvases = canvases
        self.step = Int64(step)
        configuration = .h264Configuration(encoder.configuration, timestamp: firstTimestamp)
        self.encoder = encoder
        frameRate = program.frameRate
    }

    /// Whether the rendition has the program's picture `index`.
    ///
    /// A key picture in place of one that the program left out is one of the rendition's, too: so all of them have it.
    func takes(_ index: Int64, after newest: Int64?, isKey: Bool) -> Bool {
        if index % step == 0 { return true }
        return isKey && newest.map { $0 / step < index / step } ?? false
    }

    /// The earliest picture that may follow `index`.
    func next(after index: Int64) -> Int64 { (index / step + 1) * step }

    /// Milliseconds of the program's picture `index`.
    func timestamp(of index: Int64) -> Int64 {
        ProgramTime.milliseconds(ofSample: frameRate.sample(ofPicture: index))
    }

    /// Leaves out so much of the encoder's search, 0 to 2; to be called before a key picture.
    ///
    /// - Returns: Whether another encoder took over.
    func economise(to economy: Int) throws(CodecError) -> Bool { try encoder.economise(to: economy) }

    /// Codes the picture on a canvas; nil when the encoder could not.
    func encode(_ canvas: Int, index: Int64, isKey: Bool) -> MediaPacket? {
        var made: MediaPacket?
        do {
            try encoder.encode(
                canvases[canvas],
                index: index / step,
                timestamp: timestamp(of: index),
                forceKey: isKey
            ) { made = $0 }
        } catch {
            return nil
        }
        return made
    }
}
