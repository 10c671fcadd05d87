/// Decimal fractions as playlists write them: no exponent, a point, a fixed number of digits.
enum Decimal {
    /// `value` with `digits` places after the point, rounded; negative and non-finite values become 0.
    static func text(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(Int64(1)) { scale, _ in scale * 10 }
        let bounded = value.isFinite ? min(max(value, 0), 1e9) : 0
        let (whole, rest) = Int64((bounded * Double(scale)).rounded()).quotientAndRemainder(dividingBy: scale)
        let fraction = String(rest)
        return "\(whole)." + String(repeating: "0", count: digits - fraction.utf8.count) + fraction
    }
}
