import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The little of the API that the demo needs.
struct DemoAPI {
    let base: String
    let token: String

    struct Refused: Error, CustomStringConvertible {
        var status = 0
        let description: String
    }

    func get(_ path: String) async throws -> Data {
        try await send("GET", path, body: nil)
    }

    func post(_ path: String, _ body: [String: String]) async throws -> Data {
        try await send("POST", path, body: try JSONEncoder().encode(body))
    }

    private func send(_ method: String, _ path: String, body: Data?) async throws -> Data {
        try Task.checkCancellation()
        guard let url = URL(string: base + path) else { throw Refused(description: "bad address \(base + path)") }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = method
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = body
        }
        let (status, data) = try await Self.answer(to: request)
        guard (200..<300).contains(status) else {
            throw Refused(status: status, description: String(decoding: data, as: UTF8.self))
        }
        return data
    }

    /// Waits for the answer, also in a task that is cancelled, for the request's own time limit at most: Foundation's
    /// networking ends the process when a request is cancelled at the wrong moment.
    private static func answer(to request: URLRequest) async throws -> (status: Int, data: Data) {
        try await withCheckedThrowingContinuation { continuation in
            URLSession.shared.dataTask(with: request) { data, response, error in
                if let data, let status = (response as? HTTPURLResponse)?.statusCode {
                    continuation.resume(returning: (status, data))
                } else {
                    continuation.resume(throwing: error ?? Refused(description: "no answer"))
                }
            }.resume()
        }
    }
}
