/// Memory for the halved pictures on the way to a small tile; kept from picture to picture.
///
/// `@unchecked Sendable`: a value that cannot be copied has one owner at a time.
struct ScratchPicture: ~Copyable, @unchecked Sendable {
    /// 4096 halves five times before it is below the smallest size that is halved.
    private static let steps = 6

    private let areas: UnsafeMutablePointer<UnsafeMutableBufferPointer<UInt8>>

    init() {
        areas = .allocate(capacity: Self.steps)
        areas.initialize(repeating: UnsafeMutableBufferPointer(start: nil, count: 0), count: Self.steps)
    }

    deinit {
        for step in 0..<Self.steps { areas[step].deallocate() }
        areas.deallocate()
    }

    /// Planes for a picture of even `width` and `height`; each step has its own memory.
    mutating func planes(step: Int, width: Int, height: Int) throws(CodecError) -> PicturePlanes {
        guard step < Self.steps else { throw CodecError(.failed, "a picture that does not become smaller") }
        let stride = (width + 63) & ~63
        let lumaSize = stride * height
        let chromaSize = stride / 2 * (height / 2)
        let size = lumaSize + 2 * chromaSize
        if areas[step].count < size {
            areas[step].deallocate()
            // Vector loads of the scaler may read a little past the end of a row.
            areas[step] = .allocate(capacity: size + 64)
        }
        guard let start = areas[step].baseAddress else { throw CodecError(.outOfMemory, "a scaled picture") }
        return PicturePlanes(
            y: .init(start: start, stride: stride),
            u: .init(start: start + lumaSize, stride: stride / 2),
            v: .init(start: start + lumaSize + chromaSize, stride: stride / 2)
        )
    }
}
