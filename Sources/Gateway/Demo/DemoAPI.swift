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
        guard let url = URL(string: base + path) else { throw Refused(description: "bad address \(base + path)") }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = method
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        if let body {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = body
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else {
            throw Refused(status: status, description: String(decoding: data, as: UTF8.self))
        }
        return data
    }
}
