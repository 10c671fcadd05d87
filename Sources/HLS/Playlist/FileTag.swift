import Crypto
import Foundation

/// Makes the names of media files unguessable: a keyed hash before the extension, as in `s12.p3.1xk5v0zq8hd4c.m4s`.
///
/// The files of a private program can then be cached for all viewers, because only its playlists, which are checked for
/// each viewer, tell their names; a viewer whose access ends learns no further ones.
public struct FileTag: Sendable {
    private let key = SymmetricKey(size: .bits256)

    /// Creates a tag with a random key.
    public init() {}

    /// Returns the tagged name of a file.
    func name(_ plain: String) -> String {
        guard let dot = plain.lastIndex(of: ".") else { return plain }
        let code = HMAC<SHA256>.authenticationCode(for: Data(plain.utf8), using: key)
        let number = code.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
        return "\(plain[..<dot]).\(String(number, radix: 36))\(plain[dot...])"
    }

    /// Returns the name of a file without its tag; nil if the tag is missing or wrong.
    public func plainName(_ tagged: String) -> String? {
        guard let dot = tagged.lastIndex(of: "."), let tag = tagged[..<dot].lastIndex(of: ".") else { return nil }
        let plain = String(tagged[..<tag] + tagged[dot...])
        return name(plain) == tagged ? plain : nil
    }
}
