import ControlAPI
import FanOut
import Ingest
import Logging
import MixerProcess
import NIOCore
import RTMP
import Stage

/// Routes RTMP connections: publishing hosts and mixers, playing viewers and mixers.
struct RTMPRouter: RTMPServerDelegate {
    let hosts: HostIngest
    let program: ProgramIngest
    let audience: RTMPPlayService
    let feeds: FeedDirectory
    let returnFeeds: ReturnFeedPolicy
    let tokens: AccessTokens
    let viewers: ViewerTokens
    let logger: Logger
    /// Whether only mixers are admitted.
    var isForMixers = false

    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
        let loop = connection.eventLoop
        if !isForMixers, HostIngest.isStreamKey(request.name) {
            return loop.makeSucceededFuture(hosts.publish(request, on: connection))
        }
        guard let token = request.query["token"] else {
            guard !isForMixers else { return loop.makeSucceededFuture(.refuse(Self.mixersOnly, after: .seconds(1))) }
            // Neither a stream key nor a mixer's token: refused like a wrong key, with the same delay.
            return loop.makeSucceededFuture(hosts.publish(request, on: connection))
        }
        return loop.makeFutureWithTask { try await tokens.verify(token) }
            .map { claims -> PublishVerdict in
                if claims.role == .operator {
                    return .refuse(.publishDenied(Self.operatorTokenInURL), after: .seconds(1))
                }
                endWithToken(claims, connection)
                if let rendition = RenditionFeedName(played: request.name), claims.role == .mixer,
                    claims.room == rendition.room, let epoch = claims.epoch
                {
                    // The feed exists only if the room has the rendition.
                    return program.publish(room: rendition.text, epoch: epoch, on: connection)
                }
                guard claims.role == .mixer, let epoch = claims.epoch else {
                    return .refuse(.publishDenied("this token may not publish the program"), after: .seconds(1))
                }
                if let name = ReturnFeedName(request.name), claims.room == name.room {
                    guard returnFeeds.isEnabled(name) else {
                        return .refuse(.publishDenied("this return feed is disabled"), after: .seconds(1))
                    }
                    return program.publish(name, epoch: epoch, on: connection)
                }
                if let name = PreviewFeedName(request.name), claims.room == name.room {
                    return program.publish(name, epoch: epoch, on: connection)
                }
                guard claims.room == request.name else {
                    return .refuse(.publishDenied("this token may not publish the program"), after: .seconds(1))
                }
                return program.publish(room: request.name, epoch: epoch, on: connection)
            }
            .flatMapErrorThrowing { error in
                logger.notice("program refused", metadata: ["error": "\(error)"])
                return .refuse(.publishDenied("this token is not valid"), after: .seconds(1))
            }
    }

    func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
        let loop = connection.eventLoop
        let host = HostFeedName(request.name)
        guard let token = request.query["token"] else {
            guard !isForMixers else { return loop.makeSucceededFuture(.refuse(.playFailed("this port is for mixers"))) }
            let verdict: PlayVerdict =
                switch FeedAudience(of: request.name) {
                case .viewers: audience.watch(request)
                case .mixer: .refuse(.playFailed("a host's own feed is for the mixer"))
                case .host: .refuse(.playFailed("a return feed needs its host's token"))
                case .monitors: .refuse(.playFailed("a preview needs a monitor's token"))
                }
            return loop.makeSucceededFuture(verdict)
        }
        return loop.makeFutureWithTask { try await tokens.verify(token) }
            .map { claims -> PlayVerdict in
                guard !isForMixers || claims.role == .mixer else {
                    return .refuse(.playFailed("this port is for mixers"))
                }
                if claims.role == .operator { return .refuse(.playFailed(Self.operatorTokenInURL)) }
                endWithToken(claims, connection)
                if let name = ReturnFeedName(request.name) { return playUncounted(name, claims) }
                if let name = PreviewFeedName(request.name) { return playUncounted(name, claims) }
                switch (claims.role, host) {
                case (.mixer, let host?) where claims.room == host.room:
                    guard feeds.feed(host.room) != nil else { return .refuse(.noProgram(request)) }
                    // The mixer may play the feed before the host publishes; for one reader no tick is needed.
                    feeds.open(host.text, tick: .zero)
                    return audience.playUncounted(host.text)
                case (.mixer, nil) where claims.room == (RenditionFeedName(played: request.name)?.room ?? request.name):
                    return audience.playUncounted(request.name)
                case (.participant, nil), (.monitor, nil), (.relay, nil), (.thumbnail, nil):
                    let bearer = viewers.bearer(claims, watching: request.name)
                    return audience.watch(request, bearer: bearer)
                default:
                    return .refuse(.playFailed("this token may not play that feed"))
                }
            }
            .flatMapErrorThrowing { error in
                logger.notice("play refused", metadata: ["error": "\(error)"])
                return .refuse(.playFailed("this token is not valid"))
            }
    }

    private static let mixersOnly = RTMPStatus.publishDenied("this port is for mixers")
    /// The refusal of an operator's token in a URL, because URLs end up in logs.
    private static let operatorTokenInURL = StageError.operatorTokenInURL.message

    /// Closes a connection when its token is revoked; a stream outlives its token's expiry.
    private func endWithToken(_ claims: AccessClaims, _ connection: RTMPConnection) {
        let watch = tokens.revocations.observe(claims, outlivesToken: true) { [weak connection] _ in connection?.close()
        }
        connection.hold(watch, as: claims.tokenID ?? "")
    }

    /// Decides on a player of a return feed, which is not counted.
    private func playUncounted(_ name: ReturnFeedName, _ claims: AccessClaims) -> PlayVerdict {
        guard returnFeeds.admits(claims, to: name) else {
            return .refuse(.playFailed("this token may not play that feed"))
        }
        guard returnFeeds.isEnabled(name) else {
            return .refuse(.playStreamNotFound("The return feed \(name.text) is not enabled."))
        }
        // The host may play it before the mixer publishes; for one reader no tick is needed.
        feeds.open(name.text, tick: .zero)
        return audience.playUncounted(name.text)
    }
}

extension RTMPRouter {
    /// Decides on a player of a preview, which is not counted.
    private func playUncounted(_ name: PreviewFeedName, _ claims: AccessClaims) -> PlayVerdict {
        guard returnFeeds.admits(claims, to: name) else {
            return .refuse(.playFailed("this token may not play that feed"))
        }
        guard feeds.feed(name.text) != nil else {
            return .refuse(.playStreamNotFound("The room \(name.room) is not backstage."))
        }
        return audience.playUncounted(name.text)
    }
}

/// Decides who may play a return feed or a preview, and whether there is one.
struct ReturnFeedPolicy: Sendable {
    let stage: RoomDirectory

    /// Returns whether the participant is a host with a return feed.
    func isEnabled(_ name: ReturnFeedName) -> Bool {
        guard let host = try? stage.participant(name.identity, in: name.room) else { return false }
        return host.identity == name.identity && host.isReturnFeedEnabled
    }

    /// Returns whether a token admits to the feed: the host's own, an operator's or a monitor's.
    func admits(_ claims: AccessClaims, to name: ReturnFeedName) -> Bool {
        guard isBound(claims, to: name.room) else { return false }
        return switch claims.role {
        case .operator, .monitor: true
        case .participant: claims.identity == name.identity
        case .mixer, .relay, .thumbnail: false
        }
    }

    /// Returns whether a token admits to the preview: an operator's or a monitor's.
    func admits(_ claims: AccessClaims, to name: PreviewFeedName) -> Bool {
        isBound(claims, to: name.room) && (claims.role == .operator || claims.role == .monitor)
    }

    /// Returns whether a token is bound to the room, by name or by sid, or may be unbound.
    private func isBound(_ claims: AccessClaims, to room: String) -> Bool {
        guard let bound = claims.room else { return claims.role == .operator || claims.role == .monitor }
        return bound == room || (try? stage.room(room))?.sid == bound
    }
}

extension ParticipantView {
    /// Whether the participant is a host with a return feed, the program without its own audio.
    var isReturnFeedEnabled: Bool { mode == .sendAndReceive && sound.wantsReturn }
}
