import Crypto
import Foundation

/// The salt of the estimates of who is who: another one every day of UTC.
///
/// It is in memory, and sealed in one copy for a restart on the same day.
struct DailySalt: Sendable {
    private var day: Int64?
    private var key = SymmetricKey(size: .bits256)

    /// The salt of the day of `date` (milliseconds since 1970); that of the day before is gone for good.
    mutating func key(at date: Int64) -> SymmetricKey {
        let today = Self.day(of: date)
        if day != today {
            key = SymmetricKey(size: .bits256)
            day = today
        }
        return key
    }

    /// The copy of today's salt: authenticated and unreadable without the secret.
    mutating func sealed(at date: Int64, secret: [UInt8]) throws -> [UInt8] {
        let salt = key(at: date).withUnsafeBytes { Data($0) }
        let box = try AES.GCM.seal(salt, using: Self.sealingKey(secret), authenticating: Self.name(Self.day(of: date)))
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    /// Takes the salt out of a copy that was sealed on the day of `date`.
    ///
    /// - Returns: false for any other copy, which is then of no use to anybody.
    mutating func open(_ sealed: [UInt8], at date: Int64, secret: [UInt8]) -> Bool {
        let today = Self.day(of: date)
        guard let box = try? AES.GCM.SealedBox(combined: Data(sealed)),
            let salt = try? AES.GCM.open(box, using: Self.sealingKey(secret), authenticating: Self.name(today)),
            salt.count == 32
        else { return false }
        key = SymmetricKey(data: salt)
        day = today
        return true
    }

    static func day(of date: Int64) -> Int64 { date / 86_400_000 }

    private static func name(_ day: Int64) -> Data { Data("estimates \(day)".utf8) }

    private static func sealingKey(_ secret: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret),
            info: Data("footlight estimates".utf8),
            outputByteCount: 32
        )
    }
}
