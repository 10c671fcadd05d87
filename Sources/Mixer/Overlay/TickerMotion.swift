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
    /// Pictures per second.
    let rate: Double

    /// - Parameters:
    ///   - speed: Canvas widths per second.
    ///   - rate: Pictures per second.
    init(stripWidth: Int, canvasWidth: Int, speed: Double, rate: Double, isRightToLeft: Bool = false) {
        self.stripWidth = max(stripWidth, 2)
        self.canvasWidth = canvasWidth
        self.isRightToLeft = isRightToLeft
        self.rate = rate
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

    /// The picture that is shown so many samples after one.
    func picture(after samples: Int64) -> Int64 {
        Int64((Double(samples) / Double(ProgramTime.sampleRate) * rate).rounded())
    }

    /// Pixels from the edge at which the text comes in to its beginning, whole strips that have left the canvas aside.
    ///
    /// - Parameters:
    ///   - picture: Counted from when it was `lead` pixels on its way.
    ///   - lead: None for a ticker that came then.
    func reach(at picture: Int64, lead: Int = 0) -> Int {
        let reach = Int(clamping: max(picture, 0) / Int64(interval) * Int64(step)) + lead
        // Whole strips that have left the canvas make no difference.
        return reach > canvasWidth + stripWidth
            ? canvasWidth + (reach - canvasWidth) % stripWidth + stripWidth : reach
    }

    /// The left edges of the strip's copies that are seen at a picture, counted as for `reach`.
    ///
    /// The first copy comes in from the edge; each is followed by the next one at once.
    func places(at picture: Int64, lead: Int = 0) -> [Int] {
        var reach = reach(at: picture, lead: lead)
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
