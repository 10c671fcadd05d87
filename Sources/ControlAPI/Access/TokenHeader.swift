import Foundation

/// The part of a token that says how it is signed, read before anything of it is believed.
struct TokenHeader: Decodable {
    let alg: String
    let kid: String?
    let crit: [String]?

    /// Reads the first of a token's three parts; nil for anything that is not a token.
    init?(token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        var text = String(parts[0]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard
            let data = Data(base64Encoded: text),
            let header = try? JSONDecoder().decode(TokenHeader.self, from: data)
        else { return nil }
        self = header
    }
}
