import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
public import Stage

extension Request {
    /// Maximum size of a body in bytes.
    static let maximumBodyBytes = 64 * 1024

    /// The bearer token (RFC 6750 section 2.1); nil if there is none.
    ///
    /// Never read from the URL, which is written to logs.
    var bearerToken: String? { credentials(scheme: "bearer") }

    /// The basic-auth password with any user name (RFC 7617); nil if there is none.
    var password: String? {
        guard let pair = credentials(scheme: "basic").flatMap({ Data(base64Encoded: $0) }) else { return nil }
        let parts = String(decoding: pair, as: UTF8.self).split(separator: ":", maxSplits: 1)
        return parts.count == 2 ? String(parts[1]) : nil
    }

    private func credentials(scheme: String) -> String? {
        guard let field = headers[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
        return parts[1].trimmingCharacters(in: .whitespaces)
    }

    /// Decodes the body as JSON; returns `whenEmpty`, if there is one, for an empty body.
    ///
    /// - Throws: 53004 naming the invalid field; 53004 with status 413 for a body over the limit.
    func decode<Value: Decodable>(_ type: Value.Type, whenEmpty: Value? = nil) async throws(StageError) -> Value {
        let buffer = try await read()
        if buffer.readableBytes == 0, let whenEmpty { return whenEmpty }
        return try Self.decode(type, from: Data(buffer.readableBytesView))
    }

    /// Decodes a body that was read.
    ///
    /// - Throws: 53004 naming the invalid field.
    static func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws(StageError) -> Value {
        do {
            return try WireJSON.decode(type, from: body)
        } catch {
            throw .malformed(error.sentence)
        }
    }

    func read() async throws(StageError) -> ByteBuffer {
        try await bytes(upTo: Self.maximumBodyBytes, else: .bodyTooLarge)
    }

    /// Reads the whole body.
    ///
    /// - Throws: `refusal` for more than `limit` bytes, 53004 for a body that ends early or has malformed chunks.
    func bytes(upTo limit: Int, else refusal: StageError) async throws(StageError) -> ByteBuffer {
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw refusal }
        do {
            return try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw refusal
        } catch {
            throw .brokenBody
        }
    }

    /// The body's chunks as they arrive; throws 53004 if the body ends early or its chunks are malformed.
    var chunks: some AsyncSequence<ByteBuffer, any Error> & Sendable {
        RequestChunks(body: body)
    }
}

/// The body of a request; its errors are reported as the client's.
private struct RequestChunks: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        var iterator: RequestBody.AsyncIterator

        mutating func next() async throws -> ByteBuffer? {
            do {
                return try await iterator.next()
            } catch {
                throw StageError.brokenBody
            }
        }
    }

    let body: RequestBody

    func makeAsyncIterator() -> Iterator { Iterator(iterator: body.makeAsyncIterator()) }
}

extension StageError {
    fileprivate static let brokenBody = malformed("the body ends early, or its chunks are malformed")
}

extension StageError {
    /// 53004 with status 413, for a route with its own body limit.
    public static func bodyTooLarge(limit: Int) -> StageError {
        var error = StageError.bodyTooLarge
        error.cause = "Bodies are limited to \(limit >> 20) MiB here"
        error.solution = "Send less at a time"
        return error
    }
}
