/// Holds one host's flashes against its beeps, as both come out of a program, and keeps none of them for long.
struct SyncLedger: Sendable {
    /// Milliseconds that a flash may be away from its beep.
    static let limit = 20.0
    /// Milliseconds after a flash until its beep has been heard.
    private static let patience = 500.0
    /// What a second of the host may be in the program, milliseconds: half a picture either way, and its clock.
    private static let second = 958.0...1042.0

    private struct Flash: Sendable {
        let time: Double
        let isAudible: Bool
    }

    private let name: String
    private var flashes: [Flash] = []
    private var beeps: [Double] = []
    /// When the last flash was; nil where the next one need not follow it.
    private var last: Double?
    /// Since when flashes have to come.
    private var since: Double?
    private var excuses: [Range<Double>] = []
    /// Flashes that had to have a beep, or none.
    private(set) var compared = 0
    /// The largest distance between a flash and its beep since the last call of `takeWorst`.
    private var worst = 0.0
    private(set) var faults: [String] = []

    init(name: String) {
        self.name = name
    }

    /// What happens in `span` is not held against the host.
    mutating func excuse(_ span: Range<Double>) {
        excuses.append(span)
        last = nil
    }

    mutating func flash(at time: Double, isAudible: Bool) {
        guard !isExcused(time) else { return }
        if let last, !Self.second.contains(time - last) {
            fault("\(name) has flashes \((time - last).text(0)) ms apart at \(clock(time))")
        }
        last = time
        flashes.append(Flash(time: time, isAudible: isAudible))
    }

    mutating func beep(at time: Double) { beeps.append(time) }

    /// Everything up to `time` has been seen and heard.
    ///
    /// - Parameter isShown: The host has a tile in which its flashes are to be seen.
    mutating func settle(at time: Double, isShown: Bool) {
        if !isShown || isExcused(time) {
            (last, since) = (nil, nil)
        } else {
            let begin = max(last ?? since ?? time, since ?? time)
            if time - begin > Self.second.upperBound + 100 {
                fault("\(name) has no flash from \(clock(begin)) on")
                (last, since) = (nil, time)
            }
            since = since ?? time
        }
        while let flash = flashes.first, time - flash.time > Self.patience {
            flashes.removeFirst()
            compare(flash)
        }
        beeps.removeAll { time - $0 > 3 * Self.patience }
        excuses.removeAll { time - $0.upperBound > 4 * Self.patience }
    }

    mutating func takeWorst() -> Double {
        defer { worst = 0 }
        return worst
    }

    private mutating func compare(_ flash: Flash) {
        compared += 1
        let distance = beeps.map { abs($0 - flash.time) }.min() ?? .infinity
        guard flash.isAudible else {
            if distance < Self.patience { fault("\(name) is heard at \(clock(flash.time)), muted") }
            return
        }
        if distance.isFinite { worst = max(worst, distance) }
        if distance > Self.limit {
            fault("\(name) has its beep \(distance.text(1)) ms from its flash at \(clock(flash.time))")
        }
    }

    private mutating func fault(_ text: String) {
        // The first few say it all.
        if faults.count < 5 { faults.append(text) }
    }

    func isExcused(_ time: Double) -> Bool { excuses.contains { $0.contains(time) } }

    private func clock(_ time: Double) -> String { "\((time / 1000).text(2)) s" }
}
