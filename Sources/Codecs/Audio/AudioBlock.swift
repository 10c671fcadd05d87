/// Audio on its way from a host to the mix: 48 kHz, two channels of Float32, full scale at 1.0; never written again.
public struct AudioBlock: Sendable {
    /// Samples per second and channel of every block.
    public static let sampleRate = 48_000

    /// Samples per channel.
    public let frameCount: Int
    /// The time of the first sample in milliseconds, on the clock of the packets that were decoded.
    public let timestamp: Double
    /// The first sample follows directly on the last one of the block before.
    public let isContinuous: Bool

    private let samples: SampleStorage

    /// Makes a block of `frameCount` samples a channel, written by `fill`, which gets silence.
    public init(
        frameCount: Int,
        timestamp: Double,
        isContinuous: Bool = true,
        fill: (_ left: UnsafeMutableBufferPointer<Float>, _ right: UnsafeMutableBufferPointer<Float>) -> Void
    ) {
        let samples = SampleStorage(frameCount: max(frameCount, 0))
        fill(samples.left, samples.right)
        self.init(samples, frameCount: max(frameCount, 0), timestamp: timestamp, isContinuous: isContinuous)
    }

    /// - Parameter samples: Holds at least `frameCount` samples and is not written from now on.
    init(_ samples: SampleStorage, frameCount: Int, timestamp: Double, isContinuous: Bool) {
        self.samples = samples
        self.frameCount = frameCount
        self.timestamp = timestamp
        self.isContinuous = isContinuous
    }

    /// Calls `body` with the samples of the left and the right channel; they are valid only until it returns.
    public func withChannels<R, Failure: Error>(
        _ body: (_ left: UnsafeBufferPointer<Float>, _ right: UnsafeBufferPointer<Float>) throws(Failure) -> R
    ) throws(Failure) -> R {
        defer { withExtendedLifetime(samples) {} }
        return try body(
            UnsafeBufferPointer(rebasing: samples.left.prefix(frameCount)),
            UnsafeBufferPointer(rebasing: samples.right.prefix(frameCount))
        )
    }
}

/// The memory of an `AudioBlock`: the left channel, then the right.
final class SampleStorage: Sendable {
    let frameCapacity: Int

    // Written only before the block that holds this is made, and freed with the last block.
    private nonisolated(unsafe) let start: UnsafeMutablePointer<Float>

    /// Silence of `frameCount` samples a channel.
    init(frameCount: Int) {
        frameCapacity = frameCount
        start = .allocate(capacity: max(2 * frameCount, 1))
        start.initialize(repeating: 0, count: 2 * frameCount)
    }

    deinit { start.deallocate() }

    var left: UnsafeMutableBufferPointer<Float> { UnsafeMutableBufferPointer(start: start, count: frameCapacity) }

    var right: UnsafeMutableBufferPointer<Float> {
        UnsafeMutableBufferPointer(start: start + frameCapacity, count: frameCapacity)
    }
}
