import Foundation

extension Double {
    /// With so many digits behind the point; a dash when it is no number.
    func text(_ digits: Int) -> String {
        isFinite ? String(format: "%.\(digits)f", self) : "-"
    }
}

/// What a goal came to: the value, the limit, and whether it was kept.
func verdict(_ value: Double, atMost limit: Double, digits: Int) -> String {
    "\(value.text(digits)) (goal at most \(limit.text(digits)): \(value <= limit ? "met" : "missed"))"
}
