import CYUV

extension StillPicture {
    /// The image in another size, its shape ignored.
    public func scaled(width: Int, height: Int) throws(CodecError) -> StillPicture {
        try scaled(PixelArea(x: 0, y: 0, width: self.width, height: self.height), width: width, height: height)
    }

    /// The middle of the image, as much of it as fills `width` x `height` pixels.
    public func covering(width: Int, height: Int) throws(CodecError) -> StillPicture {
        var area = PixelArea(x: 0, y: 0, width: self.width, height: self.height)
        guard width > 0, height > 0 else { throw CodecError(.badConfiguration, "an image of \(width)x\(height)") }
        if self.width * height > width * self.height {
            area.width = max(width * self.height / height, 1)
            area.x = (self.width - area.width) / 2
        } else {
            area.height = max(height * self.width / width, 1)
            area.y = (self.height - area.height) / 2
        }
        return try scaled(area, width: width, height: height)
    }

    /// The whole image as large as it goes into `width` x `height` pixels in its own shape.
    public func contained(width: Int, height: Int) throws(CodecError) -> StillPicture {
        guard width > 0, height > 0 else { throw CodecError(.badConfiguration, "an image of \(width)x\(height)") }
        if self.width * height > width * self.height {
            return try scaled(width: width, height: max((self.height * width + self.width / 2) / self.width, 1))
        }
        return try scaled(width: max((self.width * height + self.height / 2) / self.height, 1), height: height)
    }

    /// A part of the image; need not be even.
    private struct PixelArea {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    private func scaled(_ area: PixelArea, width: Int, height: Int) throws(CodecError) -> StillPicture {
        let result = try StillPicture(width: width, height: height)
        var status: Int32 = 0
        withPixels { pixels, stride in
            status = result.withMutablePixels { target, targetStride in
                ARGBScale(
                    pixels + area.y * stride + area.x * 4,
                    Int32(stride),
                    Int32(area.width),
                    Int32(area.height),
                    target,
                    Int32(targetStride),
                    Int32(width),
                    Int32(height),
                    // Averages what becomes one pixel, and is bilinear where none does.
                    kFilterBox
                )
            }
        }
        guard status == 0 else { throw CodecError(.failed, "scaling an image to \(width)x\(height)") }
        return result
    }
}
