import CFFmpeg

/// Makes 48 kHz stereo sound a little longer or shorter without a click, to hold a host's clock to the program's.
///
/// The pitch changes by the ratio, which nobody hears below about 0.5 %. Owned by one thread.
public struct AudioStretcher: ~Copyable, Sendable {
    /// The ratios that `setRatio` keeps to.
    public static let ratios = 0.96...1.04

    private var resampler: Resampler
    private var output: SampleStorage
    /// Output samples for each input sample, as set last.
    public private(set) var ratio = 1.0

    /// Makes a stretcher whose ratio is 1.
    public init() throws(CodecError) {
        var stereo = AVChannelLayout()
        av_channel_layout_default(&stereo, 2)
        resampler = try Resampler(
            layout: &stereo,
            format: AV_SAMPLE_FMT_FLTP,
            rate: Int32(AudioBlock.sampleRate),
            isElastic: true
        )
        output = SampleStorage(frameCount: 4096)
    }

    /// Sets how many samples come out for each one that goes in, from the next call of `process` on.
    ///
    /// - Parameter ratio: Cut to `ratios`; 1.0002 lets 200 ppm more come out.
    public mutating func setRatio(_ ratio: Double) {
        guard ratio.isFinite else { return }
        self.ratio = min(max(ratio, Self.ratios.lowerBound), Self.ratios.upperBound)
    }

    /// Milliseconds of sound inside the filter: what comes out next is this much older than what goes in next.
    public var delay: Double { resampler.heldMilliseconds }

    /// Stretches `count` samples a channel; calls `body` once with what comes out, valid only until it returns.
    ///
    /// Allocates nothing while the blocks do not become longer.
    public mutating func process(
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        _ body: (_ left: UnsafeBufferPointer<Float>, _ right: UnsafeBufferPointer<Float>) -> Void
    ) throws(CodecError) {
        guard count > 0, count <= 1 << 20 else { return }
        try resampler.setRatio(ratio)
        let capacity = resampler.outputCapacity(for: Int32(count))
        if capacity > output.frameCapacity {
            output = SampleStorage(frameCount: 2 * capacity)
        }
        guard let outLeft = output.left.baseAddress, let outRight = output.right.baseAddress else { return }
        let written = try resampler.convert(
            left: left,
            right: right,
            count: Int32(count),
            toLeft: outLeft,
            right: outRight,
            capacity: output.frameCapacity
        )
        body(
            UnsafeBufferPointer(start: outLeft, count: written),
            UnsafeBufferPointer(start: outRight, count: written)
        )
    }

    /// Stretches a block; calls `body` once with what comes out, valid only until it returns.
    public mutating func process(
        _ block: AudioBlock,
        _ body: (_ left: UnsafeBufferPointer<Float>, _ right: UnsafeBufferPointer<Float>) -> Void
    ) throws(CodecError) {
        var failure: CodecError?
        block.withChannels { (left, right) in
            guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
            do throws(CodecError) {
                try process(left: leftStart, right: rightStart, count: left.count, body)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
