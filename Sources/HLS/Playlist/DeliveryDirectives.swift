/// How a player wants a media playlist delivered (RFC 8216bis 6.2.5): when, and whether whole.
public struct DeliveryDirectives: Sendable, Hashable {
    /// `_HLS_msn`: not before it has this segment, or with `part` that part of it; nil for at once.
    public let sequence: Int?
    /// `_HLS_part`: the place of a part in its segment, from 0.
    public let part: Int?
    /// `_HLS_skip`: without the segments that the player knows already.
    public let isDelta: Bool

    /// At once, and whole: what a player asks for that knows of none of this.
    public static let none = DeliveryDirectives(sequence: nil, part: nil, isDelta: false)

    private init(sequence: Int?, part: Int?, isDelta: Bool) {
        self.sequence = sequence
        self.part = part
        self.isDelta = isDelta
    }

    /// Reads the directives of a request; nil when they cannot be followed, which is answered by 400.
    ///
    /// - Parameters:
    ///   - sequence: `_HLS_msn` as it was written; nil when it was not given.
    ///   - part: `_HLS_part`, which is nothing by itself.
    ///   - skip: `_HLS_skip`: `YES`, or `v2`, which here means the same because there are no date ranges.
    public init?(sequence: String?, part: String?, skip: String?) {
        switch skip {
        case nil: isDelta = false
        case "YES", "v2": isDelta = true
        default: return nil
        }
        guard let sequence else {
            guard part == nil else { return nil }
            self.sequence = nil
            self.part = nil
            return
        }
        guard let number = Self.number(sequence) else { return nil }
        self.sequence = number
        guard let part else {
            self.part = nil
            return
        }
        guard let place = Self.number(part) else { return nil }
        self.part = place
    }

    /// The request is one of a player that plays with low latency.
    public var areGiven: Bool { self != .none }

    /// The same without waiting for anything.
    public var atOnce: DeliveryDirectives { DeliveryDirectives(sequence: nil, part: nil, isDelta: isDelta) }

    /// A decimal integer, which has digits and nothing else (RFC 8216bis 4.2).
    private static func number(_ text: String) -> Int? {
        let isDecimal = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isDecimal ? Int(text) : nil
    }
}
