import ControlAPI
import FanOut
import Foundation
@testable import Gateway
import Stage
import Testing

@Suite("Viewers identified by token")
struct ViewerTokensTests {
    private static let key: [UInt8] = Array(1...32)
    private static let soon = Date().timeIntervalSince1970 + 60

    private func viewers() async throws -> (viewers: ViewerTokens, tokens: AccessTokens, sid: String) {
        let stage = RoomDirectory(settings: StageSettings(), pepper: Self.key)
        let room = try stage.create(RoomSettings(name: "show"))
        let tokens = await AccessTokens(signingKey: Self.key, kid: "k")
        return (ViewerTokens(tokens: tokens, stage: stage), tokens, room.sid)
    }

    @Test("participants have their identity; monitors, relays, thumbnailers and mixers do not count")
    func roles() async throws {
        let (viewers, tokens, sid) = try await viewers()
        func bearer(_ token: String, watching name: String = "show") async -> ViewerBearer? {
            try? await viewers.bearer(of: token, watching: name)
        }
        for room in ["show", sid] {
            let ann = try await tokens.issue(identity: "ann", room: room, mode: .receiveOnly, expiresIn: 60)
            #expect(await bearer(ann) == ViewerBearer(identity: "ann", isForRoom: true))
            #expect(await bearer(ann, watching: "show_720p") == ViewerBearer(identity: "ann", isForRoom: true))
            // A token of another room does not identify its bearer.
            #expect(await bearer(ann, watching: "other") == ViewerBearer())
        }
        let eye = try await tokens.issue(identity: "eye", room: "show", role: .monitor, expiresIn: 60)
        #expect(await bearer(eye) == ViewerBearer(identity: "eye", role: .monitor, isForRoom: true))
        // A monitor's token of another room hides its identity, and still does not count.
        #expect(await bearer(eye, watching: "other") == ViewerBearer(role: .monitor))
        // The preview is that of the token's room; who may play it is decided by the role.
        #expect(
            await bearer(eye, watching: "show.preview")
                == ViewerBearer(identity: "eye", role: .monitor, isForRoom: true)
        )
        #expect(await bearer(eye, watching: "other.preview") == ViewerBearer(role: .monitor))
        // `show_b` is a room of its own, whatever looks like a rendition.
        #expect(await bearer(eye, watching: "show_b.preview") == ViewerBearer(role: .monitor))
        for (role, player) in [(AccessRole.relay, PlayerRequest.Role.relay), (.thumbnail, .thumbnail)] {
            for room in [nil, "show"] {
                let claims = AccessClaims(identity: "box", role: role, room: room, expiresAt: Self.soon)
                let token = try await tokens.issue(claims)
                #expect(await bearer(token) == ViewerBearer(identity: "box", role: player, isForRoom: true))
            }
        }
        let mixer = try await tokens.issue(identity: "m", room: "show", role: .mixer, epoch: 1, expiresIn: 60)
        #expect(await bearer(mixer)?.role == .relay)
    }

    @Test("a token does not admit to a room whose name looks like a rendition of its own")
    func nameLikeRendition() async throws {
        let stage = RoomDirectory(settings: StageSettings(), pepper: Self.key)
        _ = try stage.create(RoomSettings(name: "show"))
        _ = try stage.create(RoomSettings(name: "show_2"))
        let viewers = ViewerTokens(tokens: await AccessTokens(signingKey: Self.key, kid: "k"), stage: stage)
        let claims = AccessClaims(identity: "ann", role: .participant, room: "show", expiresAt: Self.soon)
        #expect(viewers.bearer(claims, watching: "show_2") == ViewerBearer())
        #expect(viewers.bearer(claims, watching: "show_720p") == ViewerBearer(identity: "ann", isForRoom: true))
    }

    @Test("operators and monitors of the room may play its preview by RTMP, and nobody else")
    func preview() async throws {
        let stage = RoomDirectory(settings: StageSettings(), pepper: Self.key)
        let sid = try stage.create(RoomSettings(name: "show")).sid
        let policy = ReturnFeedPolicy(stage: stage)
        func isAdmitted(_ role: AccessRole, _ room: String?) -> Bool {
            let claims = AccessClaims(identity: "eye", role: role, room: room, expiresAt: Self.soon)
            return policy.admits(claims, to: PreviewFeedName(room: "show"))
        }
        for role in [AccessRole.operator, .monitor] {
            #expect(
                isAdmitted(role, nil) && isAdmitted(role, "show") && isAdmitted(role, sid) && !isAdmitted(role, "other")
            )
        }
        for role in [AccessRole.participant, .mixer, .relay, .thumbnail] {
            #expect(!isAdmitted(role, "show") && !isAdmitted(role, nil))
        }
    }

    @Test("refuses an expired or foreign token")
    func invalid() async throws {
        let (viewers, tokens, _) = try await viewers()
        let old = try await tokens.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: -3600)
        await #expect(throws: ViewerTokenRefusal.invalid) { try await viewers.bearer(of: old, watching: "show") }
        await #expect(throws: ViewerTokenRefusal.invalid) { try await viewers.bearer(of: "junk", watching: "show") }
        let others = await AccessTokens(signingKey: Array(2...33), kid: "k")
        let forged = try await others.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
        await #expect(throws: ViewerTokenRefusal.invalid) { try await viewers.bearer(of: forged, watching: "show") }
    }

    @Test("refuses an operator's token and a revoked token")
    func refused() async throws {
        let (viewers, tokens, _) = try await viewers()
        let boss = try await tokens.issueOperator(identity: "boss", expiresIn: 60)
        await #expect(throws: ViewerTokenRefusal.operatorToken) { try await viewers.bearer(of: boss, watching: "show") }
        let ann = try await tokens.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
        let id = try #require(try await tokens.verify(ann).tokenID)
        try await tokens.revocations.revoke(
            RevokedToken(id: id, revokedAt: 0, revokedBy: "boss", expiresAt: Self.soon)
        )
        await #expect(throws: ViewerTokenRefusal.invalid) { try await viewers.bearer(of: ann, watching: "show") }
    }
}
