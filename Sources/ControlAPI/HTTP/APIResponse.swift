import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// Builds responses.
enum APIResponse {
    /// Returns a JSON response.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let data = try WireJSON.encode(value)
        return Response(
            status: status,
            headers: [
                .contentType: "application/json; charset=utf-8",
                .contentLength: String(data.count),
                .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        )
    }

    /// Returns an error response.
    static func error(_ error: StageError, _ addresses: PlaybackAddresses) throws -> Response {
        let body = ErrorAnswer(error: ErrorResource(error, addresses))
        var response = try json(body, status: HTTPResponse.Status(code: error.status))
        if let seconds = error.retryAfter {
            response.headers[.retryAfter] = String(seconds)
        }
        if error.status == 401 {
            response.headers[.wwwAuthenticate] = "Bearer"
        }
        return response
    }

    /// Returns a plain-text response.
    static func text(_ text: String, status: HTTPResponse.Status = .ok, type: String = "text/plain") -> Response {
        Response(
            status: status,
            headers: [.contentType: "\(type); charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
