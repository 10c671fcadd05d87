/// Where a ticker's strip lies at each picture of the program.
///
/// It moves by the same even number of pixels each time, because any other motion would stutter: speeds are rounded to
/// what the picture rate allows, and slow ones move every second or third picture.
struct TickerMotion: Sendable, Hashable {
    /// Pixels each step goes, even.
    let step: Int
    /// Pictures between two steps.
    let interval: Int
    let stripWidth: Int
    let canvasWidth: Int
    let isRightToLeft: Bool

    /// - Parameters:
    ///   - speed: Canvas widths per second.
    ///   - rate: Pictures per second.
    init(stripWidth: Int, canvasWidth: Int, speed: Double, rate: Double, isRightToLeft: Bool = false) {
        self.stripWidth = max(stripWidth, 2)
        self.canvasWidth = canvasWidth
        self.isRightToLeft = isRightToLeft
        let pixels = Double(canvasWidth) * min(max(speed.isNaN ? 0 : speed, 0.01), 2) / max(rate, 1)
        if pixels >= 1.5 {
            step = max(Int((pixels / 2).rounded()) * 2, 2)
            interval = 1
        } else {
            step = 2
            interval = max(Int((2 / max(pixels, 0.01)).rounded()), 1)
        }
    }

    /// Whether the strip lies elsewhere than at the picture before.
    func moves(at picture: Int64) -> Bool { picture % Int64(interval) == 0 }

    /// The left edges of the strip's copies that are seen at a picture, counted from when the ticker came.
    ///
    /// The first copy comes in from the edge; each is followed by the next one at once.
    func places(at picture: Int64) -> [Int] {
        let way = max(picture, 0) / Int64(interval) * Int64(step)
        var reach = Int(clamping: way)
        if reach > canvasWidth + stripWidth {
            // Whole strips that have left the canvas make no difference.
            reach = canvasWidth + (reach - canvasWidth) % stripWidth + stripWidth
        }
        var places: [Int] = []
        while reach > 0 {
            if reach - stripWidth < canvasWidth {
                places.append(isRightToLeft ? reach - stripWidth : canvasWidth - reach)
            }
            reach -= stripWidth
        }
        return places
    }
}
