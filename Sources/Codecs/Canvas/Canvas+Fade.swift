import CYUV

extension Canvas {
    /// Mixes the part of `rectangle` that lies on both canvases with the same place of `other`.
    ///
    /// - Parameter amount: How much of `other` is seen afterwards: 0 changes nothing, 1 copies.
    public func fade(_ rectangle: PixelRectangle, from other: Canvas, amount: Double) {
        let weight = Self.weight(amount)
        guard weight < 256 else { return copy(rectangle, from: other) }
        guard weight > 0, other !== self else { return }
        let part = other.clipped(clipped(rectangle))
        guard !part.isEmpty else { return }
        let target = ownPlanes.moved(x: part.x, y: part.y)
        let source = other.planes.moved(x: part.x, y: part.y)
        Self.mix(target.y, source.y, part.width, part.height, weight)
        Self.mix(target.u, source.u, part.width / 2, part.height / 2, weight)
        Self.mix(target.v, source.v, part.width / 2, part.height / 2, weight)
    }

    /// Mixes the part of `rectangle` that lies on the canvas with one colour.
    ///
    /// - Parameter amount: How much of the colour is seen afterwards: 0 changes nothing, 1 fills.
    public func fade(_ rectangle: PixelRectangle, to colour: YUVColour, amount: Double) {
        let weight = Self.weight(amount)
        guard weight < 256 else { return fill(rectangle, colour) }
        let part = clipped(rectangle)
        guard weight > 0, !part.isEmpty else { return }
        let target = ownPlanes.moved(x: part.x, y: part.y)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: part.width) { row in
            guard let start = row.baseAddress else { return }
            for (plane, value, width, height) in [
                (target.y, colour.y, part.width, part.height),
                (target.u, colour.u, part.width / 2, part.height / 2),
                (target.v, colour.v, part.width / 2, part.height / 2),
            ] {
                row.initialize(repeating: value)
                // The same row again and again.
                Self.mix(plane, PicturePlanes.Plane(start: start, stride: 0), width, height, weight)
            }
        }
    }

    /// Takes light and colour from the part of `rectangle` that lies on the canvas.
    ///
    /// - Parameter amount: 0 changes nothing, 1 leaves black.
    public func dim(_ rectangle: PixelRectangle, amount: Double) {
        fade(rectangle, to: .black, amount: amount)
    }

    private static func weight(_ amount: Double) -> Int32 {
        Int32(min(max(amount.isNaN ? 0 : amount, 0), 1) * 256 + 0.5)
    }

    private static func mix(
        _ target: PicturePlanes.Plane,
        _ other: PicturePlanes.Plane,
        _ width: Int,
        _ height: Int,
        _ weight: Int32
    ) {
        let (start, stride) = (target.start, Int32(target.stride))
        InterpolatePlane(
            start,
            stride,
            other.start,
            Int32(other.stride),
            start,
            stride,
            Int32(width),
            Int32(height),
            weight
        )
    }
}
