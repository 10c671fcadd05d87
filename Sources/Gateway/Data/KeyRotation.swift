import ControlAPI
import Foundation

/// Replaces the key that signs access tokens; tokens signed with the old one stay good until its file is removed.
public struct KeyRotation: Sendable {
    static let secretName = "signing"
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
    ///
    /// - Throws: What keeps the file from being read: the key by another name would refuse every token.
    static func currentName(in directory: DataDirectory) throws -> String {
        let text = try directory.read(nameFile).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? firstName : name
    }

    /// Retires the signing key, and makes a new one with a new name; a running gateway takes it up within seconds.
    ///
    /// The operator's token is written anew, signed with the new key.
    ///
    /// - Returns: Where the retired key is.
    /// - Throws: `DataDirectoryError`; what was written until then is good, and another rotation finishes it.
    public func rotate() async throws -> String {
        let old = try Self.currentName(in: directory)
        // Made now if it was not there; what follows needs its file.
        _ = try directory.secret(Self.secretName, for: [OperatorToken.fileName])
        guard let key = try directory.read(Self.keyFile) else {
            throw DataDirectoryError.unreadable(directory.filePath(Self.keyFile))
        }
        let retired = try DataDirectory(retiredKeys)
        try retired.write(key, to: old + ".key", mode: 0o600)
        // In this order, a crash in between leaves no two keys with one name, and no moment without a key.
        let number = Int(old.drop { !$0.isNumber }) ?? 1
        let name = "key\(number < .max ? number + 1 : 1)"
        try directory.write(Data("\(name)\n".utf8), to: Self.nameFile, mode: 0o600)
        let signingKey = try directory.makeSecret(Self.secretName)
        let tokens = await AccessTokens(signingKey: signingKey, kid: name)
        try await OperatorToken.write(to: directory, tokens: tokens)
        return retired.filePath(old + ".key")
    }
}
