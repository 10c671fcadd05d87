import Foundation
import GatewayModel
import Stage

/// Metadata between its two forms: what clients send and read, and the canonical text that the stage keeps.
enum MetadataText {
    /// The canonical text: keys in order, no spaces.
    static func text(of metadata: [String: AnyJSON]) throws -> String {
        String(decoding: try WireJSON.encode(metadata), as: UTF8.self)
    }

    /// What a kept text says; nothing for a text that nobody here wrote.
    static func metadata(of text: String) -> [String: AnyJSON] {
        guard text != JoinRequest.emptyMetadata else { return [:] }
        do {
            return try WireJSON.decode([String: AnyJSON].self, from: Data(text.utf8))
        } catch {
            return [:]
        }
    }
}
