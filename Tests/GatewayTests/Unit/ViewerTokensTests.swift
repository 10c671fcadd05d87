import ControlAPI
import FanOut
@testable import Gateway
import Stage
import Testing

@Suite("Whose tokens players show")
struct ViewerTokensTests {
    private static let key: [UInt8] = Array(1...32)

    private func viewers() async throws -> (viewers: ViewerTokens, tokens: AccessTokens, sid: String) {
        let stage = RoomDirectory(settings: StageSettings(), pepper: Self.key)
        let room = try stage.create(RoomSettings(name: "show"))
        let tokens = await AccessTokens(signingKey: Self.key, kid: "k")
        return (ViewerTokens(tokens: tokens, stage: stage), tokens, room.sid)
    }

    @Test("a participant and an operator are who they are, a monitor never counts, a mixer is a relay")
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
