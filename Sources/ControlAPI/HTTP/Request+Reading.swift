import Foundation
import GatewayModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

extension Request {
    /// The largest body that is read, in bytes.
    static let largestBody = 64 * 1024

    /// The bearer token (RFC 6750 section 2.1); nil without one.
    ///
    /// Never taken from the address, which ends up in logs.
    var bearerToken: String? { credentials(scheme: "bearer") }

    /// The password, whoever's it is (RFC 7617); nil without one.
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

    /// Reads the body as JSON.
    ///
    /// - Throws: 53004 that names the field at fault, with status 413 for a body over the limit.
    func decode<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        let buffer = try await read()
        do {
            return try WireJSON.decode(type, from: Data(buffer.readableBytesView))
        } catch {
            throw StageError.malformed(error.sentence)
        }
    }

    /// As `decode`, for a body that may be missing.
    func decode<Value: Decodable>(_ type: Value.Type, whenEmpty value: Value) async throws -> Value {
        let buffer = try await read()
        guard buffer.readableBytes > 0 else { return value }
        do {
            return try WireJSON.decode(type, from: Data(buffer.readableBytesView))
        } catch {
            throw StageError.malformed(error.sentence)
        }
    }

    private func read() async throws(StageError) -> ByteBuffer {
        try await bytes(upTo: Self.largestBody, else: .bodyTooLarge)
    }

    /// The whole body.
    ///
    /// - Throws: `refusal` for more than `limit` bytes, 53004 for one that ends early or whose chunks are malformed.
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

    /// The body as it comes; throws 53004 where it ends early or its chunks are malformed.
    var chunks: some AsyncSequence<ByteBuffer, any Error> & Sendable {
        RequestChunks(body: body)
    }
}

/// The body of a request, whose faults are the client's.
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
