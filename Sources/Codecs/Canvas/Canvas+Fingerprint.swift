import CFFmpeg

extension Canvas {
    /// A number that is the same for canvases whose every pixel is.
    ///
    /// For comparing one run of a program with another; it keeps nobody out who wants two canvases to look alike to it.
    public var fingerprint: UInt64 {
        var value: UInt64 = 0xCBF2_9CE4_8422_2325
        for (plane, width, height) in [
            (planes.y, width, height), (planes.u, width / 2, height / 2), (planes.v, width / 2, height / 2),
        ] {
            for row in 0..<height {
                let start = UnsafeRawPointer(plane.start + row * plane.stride)
                var column = 0
                while column + 8 <= width {
                    value = Self.mix(value, (start + column).loadUnaligned(as: UInt64.self))
                    column += 8
                }
                while column < width {
                    value = Self.mix(value, UInt64((start + column).load(as: UInt8.self)))
                    column += 1
                }
            }
        }
        return value
    }

    private static func mix(_ value: UInt64, _ word: UInt64) -> UInt64 {
        // FNV's step over words instead of bytes, and a turn so that the high bits reach the low ones.
        let product = (value ^ word) &* 0x0000_0100_0000_01B3
        return product << 23 | product >> 41
    }
}
