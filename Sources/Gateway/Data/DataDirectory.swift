public import Foundation

/// The one folder in which a gateway keeps what must survive a restart.
public struct DataDirectory: Sendable {
    /// Where the folder is.
    public let path: String

    /// Opens the folder, making it (mode 0700) when it is not there.
    ///
    /// - Throws: `DataDirectoryError.unwritable` when it cannot be made.
    public init(_ path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw DataDirectoryError.unwritable(path)
        }
    }

    /// A secret of 32 random bytes, made at the first start.
    ///
    /// - Parameter name: What it is for; also the file's name.
    public func secret(_ name: String) throws -> [UInt8] {
        let file = filePath(name + ".key")
        if let data = FileManager.default.contents(atPath: file) {
            guard let secret = Data(base64Encoded: data.trimmed), secret.count == 32 else {
                throw DataDirectoryError.unreadable(file)
            }
            return [UInt8](secret)
        }
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        try write(Data(Data(secret).base64EncodedString().utf8), to: name + ".key", mode: 0o600)
        return secret
    }

    /// Writes a file whole or not at all: readers see the old content or the new, never a part.
    public func write(_ data: Data, to name: String, mode: Int) throws {
        let target = filePath(name)
        let temporary = target + ".new"
        try? FileManager.default.removeItem(atPath: temporary)
        guard
            FileManager.default.createFile(
                atPath: temporary,
                contents: data,
                attributes: [.posixPermissions: mode]
            ), rename(temporary, target) == 0
        else { throw DataDirectoryError.unwritable(target) }
    }

    /// The content of a file; nil when there is none.
    public func read(_ name: String) -> Data? {
        FileManager.default.contents(atPath: filePath(name))
    }

    /// Removes a file, if it is there.
    public func remove(_ name: String) {
        try? FileManager.default.removeItem(atPath: filePath(name))
    }

    /// The path of a file in the folder.
    public func filePath(_ name: String) -> String {
        path + "/" + name
    }
}

/// What is wrong with the data folder.
public enum DataDirectoryError: Error, CustomStringConvertible {
    case unreadable(String)
    case unwritable(String)

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .unreadable(let file): "\(file) is damaged; restore it, or remove it to have a new one made"
        case .unwritable(let file): "\(file) cannot be written; check the folder's owner and free space"
        }
    }
}

extension Data {
    fileprivate var trimmed: Data {
        Data(String(decoding: self, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }
}
