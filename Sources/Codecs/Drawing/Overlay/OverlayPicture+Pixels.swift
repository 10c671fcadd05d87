extension OverlayPicture {
    /// Takes over premultiplied pixels, four bytes each: blue, green, red, alpha.
    ///
    /// - Parameters:
    ///   - part: Where they go, within the picture.
    ///   - pixels: The first row of `part`.
    ///   - stride: Bytes from one row to the next.
    func fill(_ part: PixelRectangle, from pixels: UnsafePointer<UInt8>, stride: Int) {
        let target = planes.moved(x: part.x, y: part.y)
        let alpha = alpha.moved(x: part.x, y: part.y)
        let chromaAlpha = chromaAlpha.moved(x: part.x / 2, y: part.y / 2)
        for pair in 0..<part.height / 2 {
            let upper = pixels + 2 * pair * stride
            let lower = upper + stride
            for column in 0..<part.width / 2 {
                var sum = PremultipliedColour()
                for (row, source) in [(2 * pair, upper), (2 * pair + 1, lower)] {
                    for x in [2 * column, 2 * column + 1] {
                        let colour = PremultipliedColour(source + 4 * x)
                        target.y.at(x: x, y: row).pointee = colour.luma
                        alpha.at(x: x, y: row).pointee = UInt8(colour.alpha)
                        sum.add(colour)
                    }
                }
                target.u.at(x: column, y: pair).pointee = sum.blueDifferenceOfFour
                target.v.at(x: column, y: pair).pointee = sum.redDifferenceOfFour
                chromaAlpha.at(x: column, y: pair).pointee = UInt8((sum.alpha + 2) / 4)
            }
        }
    }
}

/// Red, green, blue and alpha of one pixel, or the sum of those of four.
private struct PremultipliedColour {
    var red: Int32 = 0
    var green: Int32 = 0
    var blue: Int32 = 0
    var alpha: Int32 = 0

    init() {}

    /// - Parameter pixel: Blue, green, red, alpha.
    init(_ pixel: UnsafePointer<UInt8>) {
        alpha = Int32(pixel[3])
        // Never more than alpha, as in every well-made premultiplied pixel.
        red = min(Int32(pixel[2]), alpha)
        green = min(Int32(pixel[1]), alpha)
        blue = min(Int32(pixel[0]), alpha)
    }

    mutating func add(_ other: PremultipliedColour) {
        red += other.red
        green += other.green
        blue += other.blue
        alpha += other.alpha
    }

    // BT.709, 0...255 to 16...235 and 16...240, in units of 1/65536. Each row of weights adds up to what white has to
    // become: 219/255 for luma, nothing for chroma. All is linear, so it holds for premultiplied values as it stands,
    // with alpha in place of one.
    var luma: UInt8 {
        Self.byte(11_966 * red + 40_254 * green + 4_064 * blue + 4_112 * alpha + 1 << 15, 16)
    }

    var blueDifferenceOfFour: UInt8 {
        Self.byte(-6_596 * red - 22_189 * green + 28_785 * blue + 32_897 * alpha + 1 << 17, 18)
    }

    var redDifferenceOfFour: UInt8 {
        Self.byte(28_785 * red - 26_145 * green - 2_640 * blue + 32_897 * alpha + 1 << 17, 18)
    }

    private static func byte(_ value: Int32, _ fraction: Int32) -> UInt8 {
        UInt8(clamping: value >> fraction)
    }
}
