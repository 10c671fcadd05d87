import Codecs

extension Canvas {
    /// Paints the band of a ticker as it is at a picture of the program.
    ///
    /// - Parameter places: The left edges of the strip's copies.
    func paint(_ strip: TickerStrip, rendered: OverlayPicture, at places: [Int]) {
        let band = TickerStrip.band(width: width, height: height)
        let isCovered = (places.min() ?? width) <= 0 && (places.max() ?? 0) + rendered.width >= width
        // Until the text has crossed the canvas once there is nothing behind it.
        if !isCovered { fill(band, strip.bandColour) }
        for x in places { blend(rendered, x: x, y: band.y, within: band) }
    }
}
