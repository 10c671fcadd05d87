import Foundation
import HTTPTypes
import Hummingbird
import Media
import NIOCore
import Stage

/// Pictures of the program.
///
/// A JPEG is for whoever may play the program, which is everybody who knows the room's name; a PNG, which costs far more,
/// is for those who show a token that may read the room.
extension ControlRoutes {
    /// The most bytes of a picture: a PNG of 1920x1080 that does not compress at all.
    private static let largestPicture = 8 << 20
    /// Seconds for which a reader waits for the first picture.
    private static let patience = 3.0

    func addSnapshots(to router: RouterGroup<BasicRequestContext>) {
        for format in ["jpg", "png"] {
            let path = RouterPath("rooms/:room/snapshot.\(format)")
            router.get(path) { request, context in
                try await snapshot(format, room: context.parameters.get("room") ?? "", request)
            }
            router.head(path) { request, context in
                try await snapshot(format, room: context.parameters.get("room") ?? "", request).createHeadResponse()
            }
        }
    }

    /// Where a mixer puts what it was asked for.
    func addSnapshotPosts(to api: APIRoutes) {
        api.sign("rooms/:room/mixer/snapshot") { call in
            let room = try liveRoom(call)
            try call.claims.requireMixing(room)
            guard let key = SnapshotKey(call.query("picture") ?? "") else {
                throw StageError.invalidParameter("picture", "must be jpg or png, a hyphen, and a width there is")
            }
            let picture = try await call.request.bytes(upTo: Self.largestPicture, else: .bodyTooLarge)
            snapshots.post(picture, key, room: room.sid)
            return Response(status: .noContent)
        }
    }

    private func snapshot(_ format: String, room name: String, _ request: Request) async throws -> Response {
        guard let key = SnapshotKey(format: format, width: request.uri.queryParameters.get("width")) else {
            throw StageError.invalidParameter("width", "must be a number above zero")
        }
        let room = try directory.summary(of: name)
        guard room.status == .inProgress else { throw StageError.roomNotFound }
        var isAnonymous = true
        if let token = request.bearerToken {
            let claims = try await tokens.verify(token)
            if claims.role != .thumbnail && claims.role != .relay || !claims.isFor(room) {
                try claims.requireReading(room)
            }
            isAnonymous = false
        } else if format == "png" {
            throw StageError.tokenInvalid
        }
        guard let place = clientSnapshots.enter(client(request.headers)) else {
            throw StageError.tooManyRequests(retryAfter: 2)
        }
        defer { place.leave() }
        let deadline = ContinuousClock.now + .seconds(Self.patience)
        while true {
            switch snapshots.ask(key, room: room.sid, isAnonymous: isAnonymous) {
            case .picture(let picture):
                return answer(picture, key, request)
            case .none:
                throw StageError.snapshotNotThere
            case .busy:
                throw StageError.serverBusy(retryAfter: 2)
            case .awaited:
                guard ContinuousClock.now < deadline else { throw StageError.serverBusy(retryAfter: 1) }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private func answer(_ picture: SnapshotBoard.Picture, _ key: SnapshotKey, _ request: Request) -> Response {
        var headers: HTTPFields = [
            .contentType: key.contentType,
            .eTag: picture.tag,
            .lastModified: Self.httpDate(picture.takenAt),
            .cacheControl: "public, max-age=2",
        ]
        if request.headers[.ifNoneMatch] == picture.tag { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = String(picture.bytes.readableBytes)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: picture.bytes))
    }

    /// A moment as HTTP writes it (RFC 9110 section 5.6.7).
    private static func httpDate(_ secondsSince1970: Double) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: secondsSince1970))
    }
}
