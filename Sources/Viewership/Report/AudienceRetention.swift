public import Stage

/// How long the playbacks of a broadcast lasted; times are in milliseconds.
///
/// A playback lasts from its first media to its end, with the absences in between. What it says ends where the broadcast
/// ends, or where the gateway ended it: beyond, nothing is known of it, and it is not counted.
public struct AudienceRetention: Sendable, Equatable {
    /// The playbacks that were still watched after a time.
    public struct Point: Sendable, Equatable {
        /// The time since the start of each playback.
        public var after: Int64
        /// The playbacks that could have lasted that long.
        public var joins: Int
        /// Those of them that did.
        public var watching: Int
    }

    private let end: Int64
    private let step: Int64
    /// Playbacks by the steps that they could have lasted.
    private var possible: [Int]
    /// Playbacks by the steps that they lasted.
    private var watched: [Int]

    /// Creates a value without playbacks, with a point for each step of the broadcast.
    ///
    /// - Parameter end: The end of the broadcast since 1970; of one in progress the present.
    public init(began: Int64, end: Int64, step: Int64) {
        self.end = end
        self.step = max(1, step)
        possible = Array(repeating: 0, count: Int(clamping: max(0, end - began) / self.step) + 1)
        watched = possible
    }

    /// Adds a playback.
    ///
    /// - Parameters:
    ///   - start: Its first media, in milliseconds since 1970.
    ///   - stop: Its end, in milliseconds since 1970; nil while it lasts.
    ///   - reason: The reason of its end.
    public mutating func add(from start: Int64, to stop: Int64?, because reason: AudienceEvent.CloseReason?) {
        let isCutOff = reason == .roomEnded || reason == .shutdown
        let stop = min(stop ?? end, end)
        possible[index((isCutOff ? stop : end) - start)] += 1
        watched[index(stop - start)] += 1
    }

    /// One point for each step, the first at 0.
    public var points: [Point] {
        var points: [Point] = []
        var (joins, watching) = (0, 0)
        for index in possible.indices.reversed() {
            joins += possible[index]
            watching += watched[index]
            points.append(Point(after: Int64(index) * step, joins: joins, watching: watching))
        }
        return points.reversed()
    }

    private func index(_ duration: Int64) -> Int {
        min(Int(clamping: max(0, duration) / step), possible.count - 1)
    }
}

// A broadcast is settled when its single playbacks are deleted: what is left of them is this value, which names nobody.
extension AudienceRetention: Codable {
    /// The steps of a settled value, in milliseconds.
    private static let settledSteps: [Int64] = [10_000, 60_000, 600_000, 3_600_000]
    /// The most steps of a settled value, which bounds what is stored of a broadcast.
    private static let mostSettledSteps: Int64 = 4320
    /// The largest number that is accepted from a stored value; larger ones are damage.
    private static let largest: Int64 = 1 << 40

    private enum CodingKeys: String, CodingKey {
        case end
        case step
        case possible
        case watched
    }

    /// Returns the step of the settled value of a broadcast: 10 seconds for up to 12 hours, more for a longer one.
    ///
    /// - Parameter duration: Milliseconds.
    public static func settledStep(of duration: Int64) -> Int64 {
        settledSteps.first { duration / $0 < mostSettledSteps } ?? max(duration / mostSettledSteps, 1)
    }

    /// Decodes a stored value; damaged numbers are replaced by the nearest valid ones.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func counts(_ key: CodingKeys) throws -> [Int] {
            let counts = try container.decode([Int].self, forKey: key).prefix(Int(Self.mostSettledSteps) + 1)
            return counts.isEmpty ? [0] : counts.map { min(max($0, 0), Int(Self.largest)) }
        }
        end = min(max(try container.decode(Int64.self, forKey: .end), 0), Self.largest << 10)
        step = min(max(try container.decode(Int64.self, forKey: .step), 1), Self.largest)
        possible = try counts(.possible)
        watched = try counts(.watched)
        let missing = possible.count - watched.count
        watched += Array(repeating: 0, count: max(missing, 0))
        possible += Array(repeating: 0, count: max(-missing, 0))
    }

    /// Returns the same playbacks in other steps: exactly, where the new one is a multiple of the old one.
    ///
    /// - Parameters:
    ///   - newStep: The length of a step, in milliseconds.
    ///   - began: The start of the broadcast since 1970.
    ///   - end: The end of the broadcast.
    public func inSteps(of newStep: Int64, from began: Int64, until end: Int64) -> AudienceRetention {
        var result = AudienceRetention(began: began, end: end, step: newStep)
        for index in possible.indices {
            let place = result.index(Int64(index) * step)
            result.possible[place] += possible[index]
            result.watched[place] += watched[index]
        }
        return result
    }
}
