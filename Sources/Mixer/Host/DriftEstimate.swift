/// A host's clock against ours, measured over minutes: the slope of its least delay.
///
/// The servo's own integral knows the drift only as well as it needs to; this line through a point every five seconds,
/// at most five minutes of them, tells a few parts per million. A host whose way changes begins a new line.
struct DriftEstimate: Sendable {
    private static let spacing = 5000.0
    private static let mostPoints = 60
    private static let fewestPoints = 8
    /// A point further than this from the one before it is another way through the network and no drift, milliseconds.
    private static let largestStep = 20.0

    private var points: [(time: Double, delay: Double)] = []

    /// Takes in that the least delay was `delay` at `time`, both in milliseconds.
    mutating func note(_ delay: Double, at time: Double) {
        if let last = points.last {
            guard time - last.time >= Self.spacing else { return }
            if abs(delay - last.delay) > Self.largestStep || time - last.time > 3 * Self.spacing { points.removeAll() }
        }
        if points.count == Self.mostPoints { points.removeFirst() }
        points.append((time, delay))
        partsPerMillion = slope
    }

    /// Positive when the host's clock is fast; nil until two thirds of a minute are known.
    private(set) var partsPerMillion: Double?

    private var slope: Double? {
        guard points.count >= Self.fewestPoints else { return nil }
        let count = Double(points.count)
        let time = points.reduce(0) { $0 + $1.time } / count
        let delay = points.reduce(0) { $0 + $1.delay } / count
        var (product, square) = (0.0, 0.0)
        for point in points {
            product += (point.time - time) * (point.delay - delay)
            square += (point.time - time) * (point.time - time)
        }
        return square > 0 ? -product / square * 1e6 : nil
    }
}
