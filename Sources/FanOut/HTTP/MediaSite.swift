import HTTPTypes
import Media
import NIOCore
public import Stage

/// Answers what players ask of the HTTP port, from memory and at once.
///
/// Shared by all connections.
public struct MediaSite: Sendable {
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let audience: any AudienceObserving
    let limits: HTTPLimits
    let budget: RequestBudget

    /// Takes what is answered from, and whoever counts the viewers.
    public init(
        feeds: FeedDirectory,
        hls: HLSDirectory,
        audience: any AudienceObserving,
        limits: HTTPLimits = HTTPLimits()
    ) {
        self.feeds = feeds
        self.hls = hls
        self.audience = audience
        self.limits = limits
        budget = RequestBudget(limits)
    }

    /// The answer to a request for a playlist or a file; `.flv` is not answered here but streamed.
    func respond(to request: MediaRequest, method: HTTPRequest.Method, query: QueryItems) -> MediaResponse {
        guard let programs = hls.programs(request.room) else { return .refusal(.notFound, "there is no such room") }
        // A program that ended is played to its end, but nobody is counted in a room that is over.
        let isOn = feeds.feed(request.room) != nil
        switch request {
        case .flv:
            return .refusal(.notFound, "not a file")
        case .multivariantPlaylist(let room):
            return multivariantPlaylist(of: programs, room: room, query: query)
        case .mediaPlaylist(let room, let rendition):
            guard let program = programs.rendition(rendition) else {
                return .refusal(.notFound, "there is no such rendition")
            }
            return mediaPlaylist(of: program, room: room, isCounted: isOn && method == .get, query: query)
        case .file(_, let run, let name):
            guard let body = programs.file(run: run, named: name) else {
                return .refusal(.notFound, "this segment is gone")
            }
            return .segment(body)
        }
    }

    private func multivariantPlaylist(of program: HLSRenditions, room: String, query: QueryItems) -> MediaResponse {
        let sid: String
        if let offered = query["sid"] {
            guard audience.accepts(sid: offered, room: room) else {
                return .refusal(.forbidden, "this session id is not for this room")
            }
            sid = offered
        } else {
            sid = audience.makeSession(room: room)
        }
        guard let playlist = program.multivariantPlaylist(sid: sid) else {
            return .refusal(.notFound, "the program is about to begin, try again in a moment")
        }
        return .playlist(playlist, cacheControl: "no-store")
    }

    private func mediaPlaylist(
        of program: HLSProgram,
        room: String,
        isCounted: Bool,
        query: QueryItems
    ) -> MediaResponse {
        guard let sid = query["sid"] else {
            // Without a session id nobody could be counted; the multivariant playlist hands one out.
            var response = MediaResponse.refusal(.found, "begin with index.m3u8")
            response.location = "index.m3u8"
            return response
        }
        guard audience.accepts(sid: sid, room: room) else {
            return .refusal(.forbidden, "this session id is not for this room")
        }
        guard let playlist = program.mediaPlaylist() else {
            return .refusal(.notFound, "the program is about to begin, try again in a moment")
        }
        if isCounted {
            let session = ViewerSession(sid: sid, room: room, playback: .hls, audience: audience)
            session.record(.playlistServed, at: .now())
        }
        return .playlist(playlist, cacheControl: "max-age=1")
    }
}
