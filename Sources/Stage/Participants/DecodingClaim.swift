/// What the mixer last said of one track.
struct DecodingClaim: Sendable {
    /// A mixer that just took over has not decoded anything yet; for this long, in seconds, that takes nothing away.
    static let patience = 2.0

    /// The mixer decodes the track.
    private(set) var isDecoded = false
    private var omittedSince: Double?

    /// - Returns: Whether the track counts as decoded now.
    mutating func hear(isDecoded named: Bool, at now: Double) -> Bool {
        if named {
            omittedSince = nil
            isDecoded = true
        } else if isDecoded {
            let since = omittedSince ?? now
            omittedSince = since
            isDecoded = now - since < Self.patience
        }
        return isDecoded
    }
}
