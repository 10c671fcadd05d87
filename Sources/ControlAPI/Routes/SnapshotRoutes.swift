import Admission
import Foundation
import HTTPTypes
import Hummingbird
import Media
import NIOCore
import Stage

/// Routes for still images of the program.
///
/// A JPEG needs no token, like playback, and in a private room the session id of a viewer; a PNG, which costs far more, needs a token that may read the room.
struct SnapshotRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let tokens: AccessTokens
    let snapshots: SnapshotStore
    let gate: AudienceGate
    /// Identifies a viewer from the header fields.
    let viewer: @Sendable (HTTPFields) -> PlayerRequest
    /// The client account whose limits apply to a request.
    let client: @Sendable (HTTPFields) -> UInt64?
    /// Limits the pending requests of each client.
    let clientSnapshots: ClientLimiter

    /// Maximum size of an image in bytes: an incompressible PNG of 1920x1080.
    private static let maximumImageBytes = 8 << 20
    /// Maximum time in seconds that a request waits for the first image.
    private static let timeout = 3.0
    /// Maximum time in seconds that a request waits for the next image.
    private static let freshTimeout = 5.0

    func add(to api: APIRoutes) {
        for format in ["jpg", "png"] {
            api.group.get(RouterPath("rooms/:room/snapshot.\(format)")) { request, context in
                try await snapshot(format, room: context.parameters.get("room") ?? "", request)
            }
        }

        // What a host sends, also before the show: for whoever directs it, and never for the audience.
        api.read("rooms/:room/participants/:participant/snapshot.jpg") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireMonitoring()
            let participant = try rooms.directory.participant(call.path("participant"), in: room.sid)
            guard participant.isCameraOn else { throw StageError.snapshotNotFound }
            guard let key = SnapshotKey(width: call.query("width") ?? "320", of: .host(participant.sid)) else {
                throw StageError.invalidParameter("width", "must be a number above zero")
            }
            return try await image(key, of: room, isAnonymous: false, isCacheable: false, call.request)
        }

        // What would be on air, while the room is backstage.
        api.read("rooms/:room/preview.jpg") { call in
            let room = try rooms.liveRoom(call)
            if call.claims.role != .monitor || !call.claims.isFor(room) { try call.claims.requireMonitoring() }
            let view = try rooms.directory.room(room.sid)
            // Without a host the mixer makes no preview.
            guard view.isBackstage, view.counts.hosts > 0 else { throw StageError.snapshotNotFound }
            guard let key = SnapshotKey(width: call.query("width"), of: .preview) else {
                throw StageError.invalidParameter("width", "must be a number above zero")
            }
            return try await image(key, of: room, isAnonymous: false, isCacheable: false, call.request)
        }

        // Where a mixer uploads the requested images.
        api.postUnaudited("rooms/:room/mixer/snapshot") { call in
            let room = try rooms.liveRoom(call)
            try call.claims.requireMixing(room)
            guard let key = SnapshotKey(call.query("picture") ?? "") else {
                throw StageError.invalidParameter("picture", "must be jpg or png, a hyphen, and a width there is")
            }
            let image = try await call.request.bytes(upTo: Self.maximumImageBytes, else: .bodyTooLarge)
            snapshots.store(image, key, room: room.sid)
            return Response(status: .noContent)
        }
    }

    private func snapshot(_ format: String, room name: String, _ request: Request) async throws -> Response {
        guard let key = SnapshotKey(format: format, width: request.uri.queryParameters.get("width")) else {
            throw StageError.invalidParameter("width", "must be a number above zero")
        }
        let room = try rooms.directory.summary(of: name)
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
        } else {
            var player = viewer(request.headers)
            player.sid = request.uri.queryParameters.get("sid")
            if let refusal = gate.snapshotRefusal(of: player, in: room.name) { throw refusal.error }
        }
        return try await image(
            key,
            of: room,
            isAnonymous: isAnonymous,
            isCacheable: !gate.isRestricted(room.name),
            request
        )
    }

    /// Waits for an image, and returns it.
    private func image(
        _ key: SnapshotKey,
        of room: RoomSummary,
        isAnonymous: Bool,
        isCacheable: Bool,
        _ request: Request
    ) async throws -> Response {
        guard let slot = clientSnapshots.enter(client(request.headers)) else {
            throw StageError.tooManyRequests(retryAfter: 2)
        }
        defer { slot.leave() }
        let isFresh = request.uri.queryParameters["fresh"] != nil
        let start = ContinuousClock.now
        let deadline = start + .seconds(isFresh ? Self.freshTimeout : Self.timeout)
        while true {
            switch snapshots.request(key, room: room.sid, isAnonymous: isAnonymous, since: isFresh ? start : nil) {
            case .image(let image):
                return answer(image, key, isCacheable: isCacheable && !isFresh, request)
            case .noMixer:
                throw StageError.snapshotNotFound
            case .busy:
                throw StageError.serverBusy(retryAfter: 2)
            case .pending:
                guard ContinuousClock.now < deadline else { throw StageError.serverBusy(retryAfter: 1) }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private func answer(
        _ image: SnapshotStore.Image,
        _ key: SnapshotKey,
        isCacheable: Bool,
        _ request: Request
    ) -> Response {
        var headers: HTTPFields = [
            .contentType: key.contentType,
            .eTag: image.tag,
            .lastModified: Self.httpDate(image.capturedAt),
            .cacheControl: isCacheable ? "public, max-age=2" : "private, no-store",
        ]
        if request.headers[.ifNoneMatch] == image.tag { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = String(image.bytes.readableBytes)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: image.bytes))
    }

    /// Formats a time for HTTP (RFC 9110 section 5.6.7).
    private static func httpDate(_ secondsSince1970: Double) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: secondsSince1970))
    }
}
