import Crypto

/// The salt of the estimates of who is who: another one every day of UTC, kept in memory only.
struct DailySalt: Sendable {
    private var day: Int64?
    private var key = SymmetricKey(size: .bits256)

    /// The salt of the day of `date` (milliseconds since 1970); that of the day before is gone for good.
    mutating func key(at date: Int64) -> SymmetricKey {
        let today = date / 86_400_000
        if day != today {
            key = SymmetricKey(size: .bits256)
            day = today
        }
        return key
    }
}
