import ControlAPI
import FanOut
import Foundation
@testable import Gateway
import Stage
import Testing

@Suite("Whose tokens players show")
struct ViewerTokensTests {
    private static let key: [UInt8] = Array(1...32)
    private static let soon = Date().timeIntervalSince1970 + 60

    private func viewers() async throws -> (viewers: ViewerTokens, tokens: AccessTokens, sid: String) {
        let stage = RoomDirectory(settings: StageSettings(), pepper: Self.key)
        let room = try stage.create(RoomSettings(name: "show"))
        let tokens = await AccessTokens(signingKey: Self.key, kid: "k")
        return (ViewerTokens(tokens: tokens, stage: stage), tokens, room.sid)
    }

    @Test("participants and operators are who they are; monitors, relays, makers of stills and mixers never count")
    func roles() async throws {
        let (viewers, tokens, sid) = try await viewers()
        func bearer(_ token: String, watching name: String = "show") async -> ViewerBearer? {
            await viewers.bearer(of: token, watching: name)
        }
        for room in ["show", sid] {
            let ann = try await tokens.mint(identity: "ann", room: room, mode: .receiveOnly, expiresIn: 60)
            #expect(await bearer(ann) == ViewerBearer(identity: "ann"))
            #expect(await bearer(ann, watching: "show_720p") == ViewerBearer(identity: "ann"))
            // Of another room it says nothing, and its bearer watches like anybody.
            #expect(await bearer(ann, watching: "other") == ViewerBearer())
        }
        let operatorToken = try await tokens.mintOperator(identity: "boss", expiresIn: 60)
        #expect(await bearer(operatorToken) == ViewerBearer(identity: "boss"))
        let eye = try await tokens.mint(identity: "eye", room: "show", role: .monitor, expiresIn: 60)
        #expect(await bearer(eye) == ViewerBearer(identity: "eye", role: .monitor))
        // One of another room learns nothing of who it is, and is no viewer all the same.
        #expect(await bearer(eye, watching: "other") == ViewerBearer(role: .monitor))
        for (role, player) in [(AccessRole.relay, PlayerRequest.Role.relay), (.thumbnail, .thumbnail)] {
            for room in [nil, "show"] {
                let claims = AccessClaims(identity: "box", role: role, room: room, expiresAt: Self.soon)
                let token = try await tokens.mint(claims)
                #expect(await bearer(token) == ViewerBearer(identity: "box", role: player))
            }
        }
        let mixer = try await tokens.mint(identity: "m", room: "show", role: .mixer, epoch: 1, expiresIn: 60)
        #expect(await bearer(mixer)?.role == .relay)
    }

    @Test("a token that is out of its time or not ours is nobody's")
    func invalid() async throws {
        let (viewers, tokens, _) = try await viewers()
        let old = try await tokens.mint(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: -3600)
        #expect(await viewers.bearer(of: old, watching: "show") == nil)
        #expect(await viewers.bearer(of: "junk", watching: "show") == nil)
        let others = await AccessTokens(signingKey: Array(2...33), kid: "k")
        let forged = try await others.mint(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
        #expect(await viewers.bearer(of: forged, watching: "show") == nil)
    }
}
