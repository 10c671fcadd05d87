import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix

/// Answers the HTTP-01 challenges of an ACME server (RFC 8555 section 8.3) with the files that an ACME client writes.
///
/// Debian's certbot does so as `certbot certonly --webroot --webroot-path FOLDER`.
struct ACMEChallenges: Sendable {
    private static let path = ".well-known/acme-challenge"
    /// The most bytes of a response; a key authorization has less than 200.
    private static let sizeLimit = 1_024

    /// The `webroot` of the ACME client.
    let folder: String

    /// Whether a request is for a challenge.
    static func owns(path: String) -> Bool { path.hasPrefix("/\(Self.path)/") }

    /// Adds the route of the challenges, which needs no token.
    func add(to router: Router<BasicRequestContext>) {
        router.get("\(Self.path)/:token") { _, context in
            let token = try context.parameters.require("token")
            // base64url, so that it names no other folder; those of ACME servers have 43 characters.
            guard token.wholeMatch(of: /[A-Za-z0-9_-]{1,128}/) != nil else { throw HTTPError(.notFound) }
            let file = "\(folder)/\(Self.path)/\(token)"
            // Reading a file may block.
            let content = try await NIOThreadPool.singleton.runIfActive { Self.read(file) }
            guard let content else { throw HTTPError(.notFound) }
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/plain; charset=utf-8", .contentLength: String(content.readableBytes),
                    .cacheControl: "no-store",
                ],
                body: ResponseBody(byteBuffer: content)
            )
        }
    }

    private static func read(_ path: String) -> ByteBuffer? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: sizeLimit + 1), data.count <= sizeLimit else { return nil }
        return ByteBuffer(bytes: data)
    }
}
