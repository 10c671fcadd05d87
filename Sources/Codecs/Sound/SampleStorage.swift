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
