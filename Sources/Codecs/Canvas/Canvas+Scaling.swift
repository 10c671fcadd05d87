extension Canvas {
    /// Paints `other` over all of this canvas, in this canvas's size.
    ///
    /// Nothing is cropped: canvases of one program have one shape, give or take the pixel that makes a size even.
    public func scale(from other: Canvas) throws(CodecError) {
        guard other !== self else { return }
        guard other.width != width || other.height != height else { return copy(bounds, from: other) }
        try scaler.scale(
            from: other.planes,
            width: other.width,
            height: other.height,
            to: ownPlanes,
            targetWidth: width,
            targetHeight: height
        )
    }
}
