import Foundation
import Stage
import Testing

extension StageError {
    /// What the body of a refusal says.
    static func said(in text: String) throws -> [String: Any] {
        let body = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]]
        return try #require(body?["error"])
    }
}
