import Foundation
import GatewayModel
import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How every request is made and every answer read.
extension BroadcastClient {
    enum Method: String {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// A question: nothing changes.
    func read<Value: Decodable>(
        _ path: [String],
        query: [(name: String, value: String?)] = []
    ) async throws(StageError) -> Value {
        try value(of: try await answer(to: request(.get, path, query: query)))
    }

    /// A command with an answer.
    func command<Value: Decodable>(
        _ method: Method,
        _ path: [String],
        _ body: (any Encodable)? = nil
    ) async throws(StageError) -> Value {
        try value(of: try await answer(to: request(method, path, body: body)))
    }

    /// A command whose answer is that it was done.
    func order(
        _ method: Method,
        _ path: [String],
        query: [(name: String, value: String?)] = [],
        _ body: (any Encodable)? = nil
    ) async throws(StageError) {
        _ = try await answer(to: request(method, path, query: query, body: body))
    }

    /// A question whose answer is a file.
    func file(_ path: [String]) async throws(StageError) -> Data {
        var request = try request(.get, path)
        request.setValue("*/*", forHTTPHeaderField: "Accept")
        return try await answer(to: request, within: limits.file).body
    }

    /// A command that carries a file.
    func store<Value: Decodable>(_ data: Data, at path: [String]) async throws(StageError) -> Value {
        var request = try request(.put, path)
        request.httpBody = data
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return try value(of: try await answer(to: request, within: limits.file))
    }

    /// The request for an address below `/v1`; each part of `path` is one segment, whatever is in it.
    func request(
        _ method: Method,
        _ path: [String],
        query: [(name: String, value: String?)] = [],
        body: (any Encodable)? = nil
    ) throws(StageError) -> URLRequest {
        guard var address = URLComponents(url: baseURL, resolvingAgainstBaseURL: true) else { throw .callNotConnected }
        while address.percentEncodedPath.hasSuffix("/") { address.percentEncodedPath.removeLast() }
        address.percentEncodedPath += (["v1"] + path).map { "/" + Self.escaped($0) }.joined()
        let pairs = query.compactMap { pair in pair.value.map { "\(pair.name)=\(Self.escaped($0))" } }
        address.percentEncodedQuery = pairs.isEmpty ? nil : pairs.joined(separator: "&")
        guard let url = address.url else { throw .callNotConnected }
        // The deadline is counted on the client's own clock; this one only ends what nobody waits for any more.
        var request = URLRequest(url: url, timeoutInterval: 600)
        request.httpMethod = method.rawValue
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if let body {
            guard let data = try? WireJSON.encode(body) else { throw .malformed("a number is not finite") }
            request.httpBody = data
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        return request
    }

    private func answer(
        to request: URLRequest,
        within deadline: Duration? = nil
    ) async throws(StageError) -> HTTPAnswer {
        let answer = try await connection.answer(to: request, within: deadline ?? limits.answer)
        guard answer.isSuccess else { throw .refusal(answer) }
        return answer
    }

    private func value<Value: Decodable>(of answer: HTTPAnswer) throws(StageError) -> Value {
        do {
            return try WireJSON.decode(Value.self, from: answer.body)
        } catch {
            throw .unexpectedAnswer(status: answer.status, error.sentence)
        }
    }

    /// Text with everything but the unreserved characters of RFC 3986 escaped.
    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}
