import Crypto
public import Foundation
import Glibc
import Stage

/// A code that logs an operator in to the dashboard once, within ten minutes.
///
/// `footlight login` writes its digest to a file of the data folder, which proves the right to it, and the running gateway
/// reads it when somebody enters the code.
public enum LoginCode {
    /// The time in seconds for which a code is good.
    public static let lifetime = 600.0
    /// The time in seconds for which the token of a session is good that began with a code.
    static let sessionLifetime = 7 * 86_400.0
    static let fileName = "login.code"
    /// Letters and digits that are not mistaken for each other.
    private static let alphabet = Array("ABCDEFGHJKMNPQRSTUVWXYZ23456789")
    private static let length = 8

    private struct Record: Codable {
        var digest: Data
        var expiresAt: Double
    }

    /// Makes a code, such as `ABCD-EFGH`, instead of the one before.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Throws: When the data folder cannot be written.
    public static func make(in directory: DataDirectory, at now: Double = Date().timeIntervalSince1970) throws -> String
    {
        var generator = SystemRandomNumberGenerator()
        let letters = (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "A" }
        let code = String(letters.prefix(length / 2)) + "-" + String(letters.suffix(length / 2))
        let record = Record(digest: digest(of: code), expiresAt: now + lifetime)
        try directory.write(JSONEncoder().encode(record), to: fileName, mode: 0o600)
        // The gateway, which may be another user, must be able to read what root writes.
        let owner = try FileManager.default.attributesOfItem(atPath: directory.path)
        if geteuid() == 0, let user = owner[.ownerAccountID] as? NSNumber,
            let group = owner[.groupOwnerAccountID] as? NSNumber
        {
            _ = chown(directory.filePath(fileName), user.uint32Value, group.uint32Value)
        }
        return code
    }

    /// Whether a text has the form of a code, in any case, with or without the hyphen.
    static func isCode(_ text: String) -> Bool { normalized(text).count == length }

    private static func normalized(_ text: String) -> [Character] {
        guard text.utf8.count <= 2 * length else { return [] }
        let letters = text.uppercased().filter { $0 != "-" && !$0.isWhitespace }
        return letters.allSatisfy(alphabet.contains) ? Array(letters) : []
    }

    private static func digest(of code: String) -> Data {
        Data(SHA256.hash(data: Data(String(normalized(code)).utf8)))
    }

    /// Redeems a code, which is void from then on.
    ///
    /// There are 31^8 codes and ten minutes to find one, and each client has few attempts at a login, so that wrong ones
    /// need not be counted here: nobody can make the code of another operator void.
    ///
    /// - Parameter now: Seconds since 1970.
    static func redeem(
        _ text: String,
        in directory: DataDirectory,
        at now: Double = Date().timeIntervalSince1970
    ) async -> Bool {
        guard isCode(text) else { return false }
        // One after the other, so that two logins with one code cannot both read its file.
        let isGood = try? await directory.onQueue {
            guard let data = try directory.read(fileName) else { return false }
            let record = try JSONDecoder().decode(Record.self, from: data)
            let isRight = StreamKey.isEqualInConstantTime(Array(digest(of: text)), Array(record.digest))
            guard isRight || now >= record.expiresAt else { return false }
            directory.remove(fileName)
            return isRight && now < record.expiresAt
        }
        return isGood ?? false
    }
}
