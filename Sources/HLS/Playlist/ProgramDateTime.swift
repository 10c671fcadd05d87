/// A moment of the wall clock as EXT-X-PROGRAM-DATE-TIME writes it (ISO 8601, UTC, milliseconds).
enum ProgramDateTime {
    /// - Parameter seconds: Seconds since 1970-01-01T00:00:00Z.
    static func text(_ seconds: Double) -> String {
        let bounded = seconds.isFinite ? min(max(seconds, 0), 253_402_300_799) : 0
        let milliseconds = Int64((bounded * 1000).rounded())
        let (days, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let (year, month, day) = date(daysSince1970: days)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { padded($0, 2) }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + clock.joined(separator: ":") + ".\(padded(rest % 1000, 3))Z"
    }

    /// The Gregorian date, counted in years that begin in March so that the leap day is the last of its year.
    private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
