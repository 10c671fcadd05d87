import Media
import Synchronization

/// The copy of the estimates' salt that a restart needs.
///
/// Whoever keeps it writes a new one over it as soon as the day of UTC is another one, so that no estimate of yesterday can
/// be made again.
extension ViewershipLedger {
    /// Today's salt, unreadable without `secret`, and the day (since 1970) that it is of.
    ///
    /// - Throws: What the cipher throws.
    public func sealedSalt(secret: [UInt8]) throws -> (day: Int64, copy: [UInt8]) {
        let date = wall.date(of: clock.now.milliseconds)
        let copy = try salt.withLock { try $0.sealed(at: date, secret: secret) }
        return (DailySalt.day(of: date), copy)
    }

    /// The day (since 1970) by which viewers are estimated now.
    public var saltDay: Int64 { DailySalt.day(of: wall.date(of: clock.now.milliseconds)) }

    /// Goes on with the salt of an earlier run; to be called before anybody is let in.
    ///
    /// - Returns: false for a copy that is not of today, or that another secret sealed; it is to be destroyed.
    public func takeSalt(_ copy: [UInt8], secret: [UInt8]) -> Bool {
        let date = wall.date(of: clock.now.milliseconds)
        return salt.withLock { $0.open(copy, at: date, secret: secret) }
    }
}
