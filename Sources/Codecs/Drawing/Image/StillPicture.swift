/// An image at the size it will be drawn in, what is seen through it kept.
///
/// `@unchecked Sendable`: written only while it is made, by one thread; afterwards it is shared and only read.
public final class StillPicture: @unchecked Sendable {
    /// Pixels.
    public let width: Int
    /// Pixels.
    public let height: Int

    // Blue, green, red and alpha, premultiplied: what cairo takes.
    private let memory: UnsafeMutablePointer<UInt8>
    private let stride: Int

    init(width: Int, height: Int) throws(CodecError) {
        guard (1...PictureLimits.side).contains(width), (1...PictureLimits.side).contains(height) else {
            throw CodecError(.badConfiguration, "an image of \(width)x\(height)")
        }
        self.width = width
        self.height = height
        stride = width * 4
        // Vector loads of a scaler may read a little past the end of a row.
        memory = .allocate(capacity: stride * height + 64)
        memory.initialize(repeating: 0, count: stride * height + 64)
    }

    deinit {
        memory.deallocate()
    }

    /// Calls `body` with the first pixel, and the bytes from one row to the next; valid only until it returns.
    func withPixels(_ body: (UnsafePointer<UInt8>, Int) -> Void) {
        withExtendedLifetime(self) { body(memory, stride) }
    }

    /// As `withPixels`, for who makes the picture.
    func withMutablePixels<R>(_ body: (UnsafeMutablePointer<UInt8>, Int) -> R) -> R {
        withExtendedLifetime(self) { body(memory, stride) }
    }
}
