import Crypto
import FootlightTesting
import Foundation

/// The token with which a mixer publishes a room's program, made with the gateway's own key.
enum MixerToken {
    /// - Parameter dataFolder: The gateway's, which holds its signing key.
    static func mint(dataFolder: String, room: String, epoch: Int) throws -> String {
        let text = try String(contentsOfFile: dataFolder + "/signing.key", encoding: .utf8)
        guard let key = Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ToolFailure("the gateway's signing key cannot be read")
        }
        let now = Date().timeIntervalSince1970.rounded(.down)
        let header: JSONValue = ["alg": "HS256", "kid": "key1", "typ": "JWT"]
        let payload: JSONValue = [
            "sub": "mixer",
            "aud": "footlight",
            "iat": .number(now),
            "nbf": .number(now),
            "exp": .number(now + 3600),
            "footlight": ["role": "mixer", "room": .string(room), "epoch": .number(Double(epoch))],
        ]
        let signed = [header, payload].map { base64URL(Data($0.text.utf8)) }.joined(separator: ".")
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: key))
        return signed + "." + base64URL(Data(code))
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
