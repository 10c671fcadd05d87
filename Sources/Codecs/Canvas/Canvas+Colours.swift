extension Canvas {
    /// The luma of one pixel, 16 (black) to 235 (white); coordinates outside are moved to the nearest edge.
    public func luma(x: Int, y: Int) -> UInt8 {
        planes.y.at(x: min(max(x, 0), width - 1), y: min(max(y, 0), height - 1)).pointee
    }

    /// The colour of one pixel; coordinates outside are moved to the nearest edge.
    public func colour(x: Int, y: Int) -> YUVColour {
        let (x, y) = (min(max(x, 0), width - 1), min(max(y, 0), height - 1))
        let planes = planes
        return YUVColour(
            y: planes.y.at(x: x, y: y).pointee,
            u: planes.u.at(x: x / 2, y: y / 2).pointee,
            v: planes.v.at(x: x / 2, y: y / 2).pointee
        )
    }

    /// The mean colour of the part of `rectangle` that lies on the canvas; black when none does.
    public func averageColour(of rectangle: PixelRectangle) -> YUVColour {
        let part = clipped(rectangle)
        guard !part.isEmpty else { return .black }
        let at = planes.moved(x: part.x, y: part.y)
        return YUVColour(
            y: Self.mean(at.y, part.width, part.height),
            u: Self.mean(at.u, part.width / 2, part.height / 2),
            v: Self.mean(at.v, part.width / 2, part.height / 2)
        )
    }

    private static func mean(_ plane: PicturePlanes.Plane, _ width: Int, _ height: Int) -> UInt8 {
        var sum = 0
        for row in 0..<height {
            let start = plane.at(x: 0, y: row)
            for column in 0..<width { sum += Int(start[column]) }
        }
        let count = width * height
        return UInt8((sum + count / 2) / count)
    }
}
