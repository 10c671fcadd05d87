import ControlAPI
import FanOut
import Ingest
import Logging
import NIOCore
import RTMP
import Stage

/// Sends each RTMP connection to the right door: hosts and mixers that publish, viewers and mixers that play.
struct StreamDoors: RTMPServerDelegate {
    let hosts: HostDoor
    let program: ProgramDoor
    let audience: RTMPAudience
    let feeds: FeedDirectory
    let returns: ReturnFeedRule
    let tokens: AccessTokens
    let viewers: ViewerTokens
    let logger: Logger
    /// Whether only mixers are let in.
    var isForMixers = false

    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
        let loop = connection.eventLoop
        if !isForMixers, HostDoor.isForHosts(request.name) {
            return loop.makeSucceededFuture(hosts.publish(request, on: connection))
        }
        guard let token = request.query["token"] else {
            guard !isForMixers else { return loop.makeSucceededFuture(.refuse(Self.mixersOnly, after: .seconds(1))) }
            // Not a key, not a mixer: answered like a wrong key, as slowly.
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
                    // There is no such feed unless the room offers it.
                    return program.publish(room: rendition.text, epoch: epoch, on: connection)
                }
                guard claims.role == .mixer, let epoch = claims.epoch else {
                    return .refuse(.publishDenied("this token may not publish the program"), after: .seconds(1))
                }
                if let name = ReturnFeedName(request.name), claims.room == name.room {
                    guard returns.isWanted(name) else {
                        return .refuse(.publishDenied("nobody wants this feed"), after: .seconds(1))
                    }
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
            guard host == nil else {
                return loop.makeSucceededFuture(.refuse(.playFailed("a host's own feed is for the mixer")))
            }
            guard ReturnFeedName(request.name) == nil else {
                return loop.makeSucceededFuture(.refuse(.playFailed("a return feed needs its host's token")))
            }
            return loop.makeSucceededFuture(audience.watch(request, on: connection))
        }
        return loop.makeFutureWithTask { try await tokens.verify(token) }
            .map { claims -> PlayVerdict in
                guard !isForMixers || claims.role == .mixer else {
                    return .refuse(.playFailed("this port is for mixers"))
                }
                if claims.role == .operator { return .refuse(.playFailed(Self.operatorTokenInURL)) }
                endWithToken(claims, connection)
                if let name = ReturnFeedName(request.name) { return attend(name, claims) }
                switch (claims.role, host) {
                case (.mixer, let host?) where claims.room == host.room:
                    guard feeds.feed(host.room) != nil else { return .refuse(.playStreamNotFound(request.name)) }
                    // A host's feed may be asked for before the host publishes; one reader, so no tick.
                    feeds.open(host.text, tick: .zero)
                    return audience.attend(host.text)
                case (.mixer, nil):
                    return audience.attend(request.name)
                case (.participant, nil), (.monitor, nil), (.relay, nil), (.thumbnail, nil):
                    let bearer = viewers.bearer(claims, watching: request.name)
                    return audience.watch(request, on: connection, bearer: bearer)
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
    /// An address that holds an operator's token is refused, for addresses end up in logs.
    private static let operatorTokenInURL = StageError.operatorTokenInURL.message

    /// Closes a connection when the token that it showed is revoked; a stream outlives its token's time.
    private func endWithToken(_ claims: AccessClaims, _ connection: RTMPConnection) {
        let watch = tokens.revocations.watch(claims, outlivesToken: true) { [weak connection] _ in connection?.close() }
        connection.hold(watch, as: claims.tokenID ?? "")
    }

    /// Answers a player of a return feed, who is never counted.
    private func attend(_ name: ReturnFeedName, _ claims: AccessClaims) -> PlayVerdict {
        guard returns.admits(claims, to: name) else {
            return .refuse(.playFailed("this token may not play that feed"))
        }
        guard returns.isWanted(name) else { return .refuse(.playStreamNotFound(name.text)) }
        // It may be asked for before the mixer publishes it; one reader, so no tick.
        feeds.open(name.text, tick: .zero)
        return audience.attend(name.text)
    }
}
