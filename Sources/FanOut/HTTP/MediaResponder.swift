import HTTPTypes
import Media
import NIOCore
import Stage

/// Answers the playback requests of one connection, and accounts for what is sent: what HTTP/1.1 and HTTP/2 share.
///
/// Used on the connection's event loop.
struct MediaResponder {
    let service: MediaService
    let connection: MediaConnection

    /// The receiver of a media file.
    struct Receiver {
        var room: String
        /// The session named in the path.
        var sid: String?
        /// A `PeerAddress.account`; nil if the client is unknown.
        var client: UInt64?
        /// Whether the file is an initialization segment, which some players fetch repeatedly and which plays nothing.
        var isInitialization: Bool
    }

    /// Responds to a GET or HEAD request for a playlist or a file.
    func respond(
        to request: MediaRequest,
        _ head: HTTPRequest,
        query: QueryItems,
        bearer: ViewerBearer,
        on channel: any Channel
    ) -> MediaRequestResult {
        let player: PlayerRequest
        if case .file = request.target, !ClientTrustPolicy.hasCMCD(head, query: query) {
            // A file is the same for every viewer.
            player = PlayerRequest(sid: request.sid, isHead: head.method == .head)
        } else {
            player = self.player(of: request, head, query: query, bearer: bearer, on: channel)
            if case .file = request.target, head.method == .get {
                let sid = request.sid ?? connection.viewer.sid
                service.audience.recordPlayerReport(player, in: request.room, on: sid)
            }
        }
        return service.respond(to: request, query: query, player: player)
    }

    /// Returns the player that sent a request.
    func player(
        of request: MediaRequest,
        _ head: HTTPRequest,
        query: QueryItems,
        bearer: ViewerBearer,
        on channel: any Channel
    ) -> PlayerRequest {
        PlayerRequest(
            head,
            for: request,
            query: query,
            peer: connection.peer(of: channel),
            bearer: bearer,
            trust: service.trust
        )
    }

    /// Returns the receiver of the media file that a request names; nil if it names none.
    ///
    /// - Parameter client: The client to which the connection's requests are charged.
    func receiver(
        of request: MediaRequest?,
        _ head: HTTPRequest,
        client: RequestRateLimiter.Client
    ) -> Receiver? {
        guard let request, case .file(_, let name) = request.target else { return nil }
        return Receiver(
            room: request.room,
            sid: request.sid,
            client: service.budget.account(of: client, head.headerFields),
            isInitialization: name.hasPrefix("init")
        )
    }

    /// Records a response, of which `bytes` of the body are sent.
    func recordDelivery(_ response: MediaResponse, bytes: Int, to receiver: Receiver?) {
        if response.viewer == nil, response.allowsRanges, bytes > 0, let receiver, let sid = receiver.sid {
            return recordFile(bytes: bytes, of: sid, in: receiver.room)
        }
        guard connection.viewer.recordDelivery(response, bytes: bytes), connection.viewer.sid == nil, let receiver,
            let client = receiver.client, !receiver.isInitialization
        else { return }
        service.audience.mediaServed(in: receiver.room, to: client, over: connection.id, at: .now())
    }

    /// Records that a media file, or `bytes` of it, was sent to the session named in the request.
    private func recordFile(bytes: Int, of sid: String, in room: String) {
        let event = AudienceEvent(
            sid: sid,
            room: room,
            playback: .hls,
            kind: .delivered,
            at: .now(),
            bytes: bytes,
            isMediaSeen: true
        )
        service.audience.record(event)
    }
}

extension [ByteBuffer] {
    /// The number of readable bytes of all buffers.
    var byteCount: Int { reduce(0) { $0 + $1.readableBytes } }
}
