import Foundation
import GatewayModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// Answers in JSON.
enum Reply {
    /// A value of the model.
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

    /// A refusal, in the one shape there is.
    static func error(_ error: StageError) throws -> Response {
        var response = try json(StageError.Body(error), status: HTTPResponse.Status(code: error.status))
        if let seconds = error.retryAfter {
            response.headers[.retryAfter] = String(seconds)
        }
        if error.status == 401 {
            response.headers[.wwwAuthenticate] = "Bearer"
        }
        return response
    }

    /// Plain text.
    static func text(_ text: String, status: HTTPResponse.Status = .ok, type: String = "text/plain") -> Response {
        Response(
            status: status,
            headers: [.contentType: "\(type); charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
