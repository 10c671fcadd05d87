import Foundation

/// Replaces the key that signs access tokens; tokens signed with the old one stay good until its file is removed.
public struct KeyRotation: Sendable {
    private static let nameFile = "signing.kid"
    private static let keyFile = "signing.key"
    private static let firstName = "key1"

    private let directory: DataDirectory
    private let retiredKeys: String

    /// Prepares a rotation; nothing is changed yet.
    ///
    /// - Parameter configuration: Says where the keys are.
    public init(_ configuration: GatewayConfiguration) throws {
        directory = try DataDirectory(configuration.dataDirectory)
        retiredKeys = configuration.resolvedRetiredKeys
    }

    /// The name of the signing key in tokens.
    static func currentName(in directory: DataDirectory) -> String {
        let text = directory.read(nameFile).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? firstName : name
    }

    /// Retires the signing key, and makes a new one with a new name; a running gateway takes it up when it is restarted.
    ///
    /// The operator's token goes too, and comes back at the next start, signed with the new key.
    ///
    /// - Returns: Where the retired key is.
    public func rotate() throws -> String {
        let old = Self.currentName(in: directory)
        // Made now if it was not there; what follows needs its file.
        _ = try directory.secret("signing")
        guard let key = directory.read(Self.keyFile) else {
            throw DataDirectoryError.unreadable(directory.filePath(Self.keyFile))
        }
        let retired = try DataDirectory(retiredKeys)
        try retired.write(key, to: old + ".key", mode: 0o600)
        // In this order, a crash in between leaves no two keys with one name.
        let number = Int(old.drop { !$0.isNumber }) ?? 1
        try directory.write(Data("key\(number + 1)\n".utf8), to: Self.nameFile, mode: 0o600)
        directory.remove(Self.keyFile)
        _ = try directory.secret("signing")
        directory.remove(OperatorToken.fileName)
        return retired.filePath(old + ".key")
    }
}
