/// Compares one host's flashes with its beeps, as decoded from a program, and stores only recent ones.
struct FlashBeepMatcher: Sendable {
    /// The accepted offset of a flash from its beep, in milliseconds.
    static let limit = 20.0
    /// Milliseconds after a flash until its beep has been decoded.
    private static let beepTimeout = 500.0
    /// The accepted interval between flashes in milliseconds: half a frame either way, and the host's clock drift.
    private static let second = 958.0...1042.0

    private struct Flash: Sendable {
        let time: Double
        let isAudible: Bool
    }

    private let name: String
    private var flashes: [Flash] = []
    private var beeps: [Double] = []
    /// The time of the last flash; nil where the next one need not follow it.
    private var last: Double?
    /// The time from which flashes are due.
    private var since: Double?
    private var ignoredRanges: [Range<Double>] = []
    /// The number of flashes that were compared with beeps.
    private(set) var compared = 0
    /// The largest distance between a flash and its beep since the last call of `drainWorst`.
    private var worst = 0.0
    private(set) var faults: [String] = []

    init(name: String) {
        self.name = name
    }

    /// Excludes a time span from the checks.
    mutating func ignore(_ span: Range<Double>) {
        ignoredRanges.append(span)
        last = nil
    }

    mutating func flash(at time: Double, isAudible: Bool) {
        guard !isIgnored(time) else { return }
        if let last, !Self.second.contains(time - last) {
            fault("\(name) has flashes \((time - last).text(0)) ms apart at \(clock(time))")
        }
        last = time
        flashes.append(Flash(time: time, isAudible: isAudible))
    }

    mutating func beep(at time: Double) { beeps.append(time) }

    /// Checks the flashes up to `time`.
    ///
    /// - Parameter isShown: Whether the host has a tile in which its flashes are visible.
    mutating func update(at time: Double, isShown: Bool) {
        if !isShown || isIgnored(time) {
            (last, since) = (nil, nil)
        } else {
            let begin = max(last ?? since ?? time, since ?? time)
            if time - begin > Self.second.upperBound + 100 {
                fault("\(name) has no flash from \(clock(begin)) on")
                (last, since) = (nil, time)
            }
            since = since ?? time
        }
        while let flash = flashes.first, time - flash.time > Self.beepTimeout {
            flashes.removeFirst()
            compare(flash)
        }
        beeps.removeAll { time - $0 > 3 * Self.beepTimeout }
        ignoredRanges.removeAll { time - $0.upperBound > 4 * Self.beepTimeout }
    }

    mutating func drainWorst() -> Double {
        defer { worst = 0 }
        return worst
    }

    private mutating func compare(_ flash: Flash) {
        compared += 1
        let distance = beeps.map { abs($0 - flash.time) }.min() ?? .infinity
        guard flash.isAudible else {
            if distance < Self.beepTimeout { fault("\(name) is audible at \(clock(flash.time)), muted") }
            return
        }
        if distance.isFinite { worst = max(worst, distance) }
        if distance > Self.limit {
            fault("\(name) has its beep \(distance.text(1)) ms from its flash at \(clock(flash.time))")
        }
    }

    private mutating func fault(_ text: String) {
        // The first few faults are enough.
        if faults.count < 5 { faults.append(text) }
    }

    func isIgnored(_ time: Double) -> Bool { ignoredRanges.contains { $0.contains(time) } }

    private func clock(_ time: Double) -> String { "\((time / 1000).text(2)) s" }
}
