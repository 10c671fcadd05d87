import Foundation
public import FootlightModel
public import Stage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Request encoding and response decoding.
extension BroadcastClient {
    enum Method: String {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// Sends a GET request.
    func read<Value: Decodable>(
        _ path: [String],
        query: [(name: String, value: String?)] = []
    ) async throws(StageError) -> Value {
        try value(of: try await answer(to: request(.get, path, query: query)))
    }

    /// Sends a command and decodes its response.
    func command<Value: Decodable>(
        _ method: Method,
        _ path: [String],
        _ body: (any Encodable)? = nil
    ) async throws(StageError) -> Value {
        try value(of: try await answer(to: request(method, path, body: body)))
    }

    /// Sends a command whose response has no body.
    func perform(
        _ method: Method,
        _ path: [String],
        query: [(name: String, value: String?)] = [],
        _ body: (any Encodable)? = nil
    ) async throws(StageError) {
        _ = try await answer(to: request(method, path, query: query, body: body))
    }

    /// Downloads a file.
    func file(_ path: [String]) async throws(StageError) -> Data {
        var request = try request(.get, path)
        request.setValue("*/*", forHTTPHeaderField: "Accept")
        return try await answer(to: request, within: limits.file).body
    }

    /// Uploads a file.
    func store<Value: Decodable>(_ data: Data, at path: [String]) async throws(StageError) -> Value {
        var request = try request(.put, path)
        request.httpBody = data
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return try value(of: try await answer(to: request, within: limits.file))
    }

    /// Builds a request below `/v1`; each element of `path` is one escaped segment.
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
        // The client's clock counts the deadline; this timeout only ends abandoned requests.
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
    ) async throws(StageError) -> ServerResponse {
        let answer = try await connection.answer(to: request, within: deadline ?? limits.answer)
        guard answer.isSuccess else { throw .refusal(answer) }
        return answer
    }

    private func value<Value: Decodable>(of answer: ServerResponse) throws(StageError) -> Value {
        do {
            return try WireJSON.decode(Value.self, from: answer.body)
        } catch {
            throw .unexpectedResponse(status: answer.status, error.sentence)
        }
    }

    /// Percent-encodes everything except the unreserved characters of RFC 3986.
    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

extension StageError {
    /// Creates an error from the gateway's resource; compare `code`.
    public init(_ error: ErrorResource) {
        self.init(
            code: error.code,
            name: error.name,
            message: error.message,
            cause: error.cause,
            solution: error.solution,
            status: error.status,
            isRetryable: error.retryable,
            retryAfter: error.retryAfter.map { min(max($0, 0), Self.maximumRetryAfter) }
        )
    }

    /// Maximum retry delay in seconds that is accepted from a response.
    private static let maximumRetryAfter = 3600

    /// An error for a response that is not the gateway's, such as a proxy's; the code is the HTTP status.
    ///
    /// Retryable with a 5xx status.
    static func unexpectedResponse(status: Int, _ problem: String, retryAfter: Int? = nil) -> StageError {
        StageError(
            code: status,
            name: "UnexpectedAnswerError",
            message: "The answer could not be used: \(problem)",
            cause: "Something other than the gateway answered, or the gateway is of another version",
            solution: "Check the address of the gateway",
            status: status,
            isRetryable: (500...599).contains(status),
            retryAfter: retryAfter.map { min(max($0, 0), maximumRetryAfter) }
        )
    }

    /// Creates an error from an error response, with the gateway's text if there is one.
    static func refusal(_ answer: ServerResponse) -> StageError {
        guard let found = try? WireJSON.decode(ErrorAnswer.self, from: answer.body) else {
            return .unexpectedResponse(
                status: answer.status,
                "HTTP status \(answer.status)",
                retryAfter: answer.retryAfter
            )
        }
        var error = StageError(found.error)
        if error.retryAfter == nil { error.retryAfter = answer.retryAfter.map { min(max($0, 0), maximumRetryAfter) } }
        return error
    }
}
