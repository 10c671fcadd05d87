import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Answers of the pages that are no files.
enum PageReply {
    /// A value in JSON, which nobody keeps.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let data = try encoder.encode(value)
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

    /// A status and its name in words.
    static func text(_ status: HTTPResponse.Status) -> Response {
        let text = "\(status.code) \(status.reasonPhrase)\n"
        return Response(
            status: status,
            headers: [
                .contentType: "text/plain; charset=utf-8",
                .contentLength: String(text.utf8.count),
                .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
