/// How long a program was on the air within a span of time; milliseconds since 1970.
struct AirTime {
    /// Milliseconds on the air.
    let onAir: Int64
    private let from: Int64
    private let to: Int64

    init(onAir: Int64 = 0, from: Int64 = 0, to: Int64 = 0) {
        self.from = from
        self.to = max(from, to)
        self.onAir = min(max(0, onAir), self.to - from)
    }

    /// The part of `time`, which passed in the span, that was on the air.
    ///
    /// Where the span was on the air in part only, the same part of the time.
    func part(of time: Int64) -> Int64 {
        to > from ? Int64((Double(time) * Double(onAir) / Double(to - from)).rounded()) : 0
    }

    /// What of `time`, which passed evenly in the span, belongs to each of its minutes, by minutes since 1970.
    ///
    /// - Parameter minute: Where all of it belongs when there is no span.
    func minutes(of time: Int64, at minute: Int64) -> [(minute: Int64, time: Int64)] {
        guard from < to, from / 60_000 != to / 60_000 else { return [(minute, time)] }
        var parts: [(minute: Int64, time: Int64)] = []
        var (place, rest) = (from, time)
        while place < to {
            let end = min(to, (place / 60_000 + 1) * 60_000)
            let part = end == to ? rest : Int64((Double(time) * Double(end - place) / Double(to - from)).rounded())
            parts.append((place / 60_000, part))
            rest -= part
            place = end
        }
        return parts
    }

    /// Milliseconds on the air in each minute of the span, by minutes since 1970.
    var minutes: [(minute: Int64, onAir: Int64)] {
        guard onAir > 0 else { return [] }
        var minutes: [(minute: Int64, onAir: Int64)] = []
        var (place, rest) = (from, onAir)
        while place < to {
            let end = min(to, (place / 60_000 + 1) * 60_000)
            let share = end == to ? rest : min(rest, part(of: end - place))
            minutes.append((place / 60_000, share))
            rest -= share
            place = end
        }
        return minutes
    }
}
