import CFFmpeg

/// Makes 48 kHz stereo audio a little longer or shorter without a click, to hold a host's clock to the program's.
///
/// The pitch changes by the ratio, which nobody hears below about 0.5 %. At a ratio of exactly 1 the audio passes as it
/// is, which costs next to nothing; coming and going the two blend, at most half a sample apart. Owned by one thread.
public struct AudioStretcher: ~Copyable, Sendable {
    /// The ratios that `setRatio` keeps to.
    public static let ratios = 0.96...1.04

    /// Samples in which passing and stretching blend into each other.
    private static let blend = 240
    /// Input samples remembered: more than the filter's length, so that it can begin in the middle of an audio frame.
    private static let memory = 64
    /// Samples by which passing audio is held back at first: about what the filter holds.
    private static let firstDelay = 16

    private var resampler: Resampler
    private var output: SampleStorage
    /// The last `memory` input samples, and room behind them for the block at hand.
    private var input: SampleStorage
    /// Samples by which passing audio is held back; nil while stretching.
    private var passingDelay: Int? = firstDelay
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
        input = SampleStorage(frameCount: Self.memory + 4096)
    }

    /// Sets how many samples come out for each one that goes in, from the next call of `process` on.
    ///
    /// - Parameter ratio: Cut to `ratios`; 1.0002 lets 200 ppm more come out.
    public mutating func setRatio(_ ratio: Double) {
        guard ratio.isFinite else { return }
        self.ratio = min(max(ratio, Self.ratios.lowerBound), Self.ratios.upperBound)
    }

    /// Milliseconds of audio held back: what comes out next is this much older than what goes in next.
    public var delay: Double {
        passingDelay.map { Double($0) * 1000 / Double(AudioBlock.sampleRate) } ?? resampler.delayMilliseconds
    }

    /// Stretches `count` samples a channel; calls `body` once with what comes out, valid only until it returns.
    ///
    /// Allocates nothing while the blocks do not become longer and the ratio does not come from or go to 1.
    public mutating func process(
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        _ body: (_ left: UnsafeBufferPointer<Float>, _ right: UnsafeBufferPointer<Float>) -> Void
    ) throws(CodecError) {
        guard count > 0, count <= 1 << 20 else { return }
        makeRoom(for: count)
        guard let inLeft = input.left.baseAddress, let inRight = input.right.baseAddress,
            let outLeft = output.left.baseAddress, let outRight = output.right.baseAddress
        else { return }
        (inLeft + Self.memory).update(from: left, count: count)
        (inRight + Self.memory).update(from: right, count: count)
        // What went in last is what is remembered next time.
        defer {
            inLeft.update(from: inLeft + count, count: Self.memory)
            inRight.update(from: inRight + count, count: Self.memory)
        }

        if let passingDelay {
            let start = Self.memory - passingDelay
            if ratio != 1 {
                let written = try beginStretching(inLeft, inRight, count, from: start, to: outLeft, outRight)
                let length = min(Self.blend, written, count)
                Self.fade(from: inLeft + start, to: outLeft, into: outLeft, length)
                Self.fade(from: inRight + start, to: outRight, into: outRight, length)
                body(
                    UnsafeBufferPointer(start: outLeft, count: written),
                    UnsafeBufferPointer(start: outRight, count: written)
                )
                return
            }
            body(
                UnsafeBufferPointer(start: inLeft + start, count: count),
                UnsafeBufferPointer(start: inRight + start, count: count)
            )
            return
        }

        // The delay before the block, for that is where passing would have to go on.
        let held = Int((resampler.delayMilliseconds * Double(AudioBlock.sampleRate) / 1000).rounded())
        let written = try stretch(inLeft + Self.memory, inRight + Self.memory, count, to: outLeft, outRight)
        if ratio == 1, (0...Self.memory).contains(held) {
            passingDelay = held
            let start = Self.memory - held
            let length = min(Self.blend, written, count)
            Self.fade(from: outLeft, to: inLeft + start, into: outLeft, length)
            Self.fade(from: outRight, to: inRight + start, into: outRight, length)
            (outLeft + length).update(from: inLeft + start + length, count: count - length)
            (outRight + length).update(from: inRight + start + length, count: count - length)
            body(
                UnsafeBufferPointer(start: outLeft, count: count),
                UnsafeBufferPointer(start: outRight, count: count)
            )
            return
        }
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

    private typealias Samples = UnsafeMutablePointer<Float>

    private mutating func makeRoom(for count: Int) {
        // The most that comes out: the block and all the filter can have held, longer by the largest ratio.
        let most = Int(Double(count + 4 * Self.memory) * Self.ratios.upperBound) + Self.memory
        if most > output.frameCapacity { output = SampleStorage(frameCount: 2 * most) }
        guard Self.memory + count > input.frameCapacity else { return }
        let larger = SampleStorage(frameCount: Self.memory + 2 * count)
        for (from, to) in [(input.left, larger.left), (input.right, larger.right)] {
            for index in 0..<Self.memory { to[index] = from[index] }
        }
        input = larger
    }

    /// Lets the filter begin within the audio that passes, so that what comes out goes on from input sample `start`.
    ///
    /// - Returns: Samples written.
    private mutating func beginStretching(
        _ left: Samples,
        _ right: Samples,
        _ count: Int,
        from start: Int,
        to outLeft: Samples,
        _ outRight: Samples
    ) throws(CodecError) -> Int {
        try resampler.restart()
        passingDelay = nil
        try resampler.setRatio(1)
        let old = try resampler.convert(
            left: left,
            right: right,
            count: Int32(Self.memory),
            toLeft: outLeft,
            right: outRight,
            capacity: output.frameCapacity
        )
        let new = try stretch(left + Self.memory, right + Self.memory, count, to: outLeft + old, outRight + old)
        let written = max(old + new - start, 0)
        outLeft.update(from: outLeft + start, count: written)
        outRight.update(from: outRight + start, count: written)
        return written
    }

    private mutating func stretch(
        _ left: Samples,
        _ right: Samples,
        _ count: Int,
        to outLeft: Samples,
        _ outRight: Samples
    ) throws(CodecError) -> Int {
        try resampler.setRatio(ratio)
        return try resampler.convert(
            left: left,
            right: right,
            count: Int32(count),
            toLeft: outLeft,
            right: outRight,
            capacity: output.frameCapacity - Self.memory
        )
    }

    private static func fade(from old: Samples, to new: Samples, into target: Samples, _ length: Int) {
        for index in 0..<length {
            let weight = (Float(index) + 0.5) / Float(length)
            target[index] = old[index] * (1 - weight) + new[index] * weight
        }
    }
}
