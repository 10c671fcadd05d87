/// The delivery directives of a media playlist request (RFC 8216bis 6.2.5).
public struct DeliveryDirectives: Sendable, Hashable {
    /// `_HLS_msn`: respond once the playlist contains this segment, or with `part` that part of it; nil for
    /// immediately.
    public let sequence: Int?
    /// `_HLS_part`: the index of a part in its segment, from 0.
    public let part: Int?
    /// `_HLS_skip`: omit segments that the player already has.
    public let isDelta: Bool

    /// No directives: the full playlist, immediately.
    public static let none = DeliveryDirectives(sequence: nil, part: nil, isDelta: false)

    private init(sequence: Int?, part: Int?, isDelta: Bool) {
        self.sequence = sequence
        self.part = part
        self.isDelta = isDelta
    }

    /// Parses the directives of a request; nil if they are invalid, which is answered with status 400.
    ///
    /// - Parameters:
    ///   - sequence: The value of `_HLS_msn`, or nil.
    ///   - part: The value of `_HLS_part`, which requires `_HLS_msn`.
    ///   - skip: The value of `_HLS_skip`: `YES` or `v2`, which are equivalent because there are no date ranges.
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
        guard let index = Self.number(part) else { return nil }
        self.part = index
    }

    /// Whether any directive is present, as in requests of low-latency players.
    public var isLowLatencyRequest: Bool { self != .none }

    /// The same directives without blocking.
    public var withoutBlocking: DeliveryDirectives { DeliveryDirectives(sequence: nil, part: nil, isDelta: isDelta) }

    /// Parses a decimal integer, which consists of digits only (RFC 8216bis 4.2).
    private static func number(_ text: String) -> Int? {
        let isDecimal = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isDecimal ? Int(text) : nil
    }
}
