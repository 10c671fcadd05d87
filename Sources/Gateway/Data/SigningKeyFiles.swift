import ControlAPI
import Foundation

/// The keys of access tokens as they are in the data folder at one moment.
struct SigningKeyFiles: Equatable {
    let name: String
    let key: [UInt8]
    let retired: [String: [UInt8]]

    /// Reads them; nil while a rotation is under way.
    ///
    /// - Parameter retiredKeys: The folder of the retired ones.
    /// - Throws: What is wrong with a file.
    init?(_ directory: DataDirectory, retiredKeys: String) throws {
        name = try KeyRotation.currentName(in: directory)
        key = try directory.secret(KeyRotation.secretName, for: [OperatorToken.fileName])
        retired = try RetiredKeys.load(from: retiredKeys)
        // The name and the key are two files: between the two writes the key is still the one that was just retired.
        guard try KeyRotation.currentName(in: directory) == name, !retired.values.contains(key) else { return nil }
    }
}
