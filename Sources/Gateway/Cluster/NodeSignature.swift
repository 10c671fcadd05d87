import Crypto
import FanOut
import Foundation
import HTTPTypes

/// Proves to the other gateways of a cluster that a request was forwarded by one of them, and for which client.
///
/// The proof is an HMAC-SHA-256 by the key of the cluster over the sender's name, the time, the method, the target and
/// the origin of the client. It covers neither the body nor other header fields: between gateways whose network others can
/// reach, the address of a node should be one of HTTPS.
struct NodeSignature: Sendable {
    /// Seconds by which the clocks of two gateways may differ; a request can be repeated by others for as long.
    static let tolerance = 30.0

    private let node: String
    private let key: SymmetricKey

    init(node: String, key: [UInt8]) {
        self.node = node
        self.key = SymmetricKey(data: key)
    }

    /// Returns the signature of a request: the sender's name, the seconds since 1970 and the HMAC.
    ///
    /// - Parameter target: The path with the query, as it is sent.
    func sign(_ method: String, _ target: String, origin: String, at seconds: Double) -> String {
        let time = String(Int64(max(0, min(seconds, 1e15))))
        let code = HMAC<SHA256>.authenticationCode(
            for: Self.message(node, time, method, target, origin),
            using: key
        )
        return "\(node) \(time) \(Data(code).base64EncodedString())"
    }

    /// Returns the sender of a request.
    ///
    /// - Parameter seconds: The present time, in seconds since 1970.
    func sender(of request: HTTPRequest, at seconds: Double) -> NodeRouting.Sender {
        guard let signature = request.headerFields[.nodeSignature] else { return .client }
        let parts = signature.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let time = Double(parts[1]), abs(time - seconds) <= Self.tolerance,
            let code = Data(base64Encoded: parts[2]), let text = request.headerFields[.clientOrigin],
            let origin = ClientOrigin(text: text)
        else { return .forged }
        let message = Self.message(parts[0], parts[1], request.method.rawValue, request.path ?? "", text)
        // Takes the same time for any wrong code.
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: key) else { return .forged }
        return .node(parts[0], origin)
    }

    /// Separates the parts by a character that none of them has.
    private static func message(_ parts: String...) -> Data {
        Data((["footlight forward 1"] + parts).joined(separator: "\n").utf8)
    }
}
