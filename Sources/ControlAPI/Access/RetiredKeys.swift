import Foundation

/// The keys of earlier rotations, kept in a folder: tokens signed with them are good until their file is removed.
public enum RetiredKeys {
    private static let suffix = ".key"
    private static let shortest = 32

    /// Reads every `<kid>.key` of a folder: base64 of at least 32 bytes.
    ///
    /// No folder is no keys.
    ///
    /// - Throws: `DamagedKey` for a file that is no key, and what the file system throws.
    public static func load(from folder: String) throws -> [String: [UInt8]] {
        guard FileManager.default.fileExists(atPath: folder) else { return [:] }
        var keys: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(suffix) {
            let path = folder + "/" + name
            let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
            guard
                let key = Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)),
                key.count >= shortest
            else { throw DamagedKey(path: path) }
            keys[String(name.dropLast(suffix.count))] = [UInt8](key)
        }
        return keys
    }

    /// A file that should hold a key and does not.
    public struct DamagedKey: Error, CustomStringConvertible {
        /// The file.
        public let path: String

        /// What is wrong, and what to do; never what the file holds.
        public var description: String {
            "\(path) holds no key of 32 bytes or more in base64; restore it, or remove it"
        }
    }
}
