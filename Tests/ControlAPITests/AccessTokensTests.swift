import Foundation
import JWTKit
import Stage
import TestSupport
import Testing

@testable import ControlAPI

@Suite("Access tokens")
struct AccessTokensTests {
    private static let key = [UInt8](repeating: 1, count: 32)

    private func tokens(now: Double = 1000, key: [UInt8] = key, kid: String = "k1") async -> AccessTokens {
        await AccessTokens(signingKey: key, kid: kid, retired: [:]) { now }
    }

    private func code(_ token: String, at now: Double = 1000) async -> Int? {
        do {
            _ = try await tokens(now: now).verify(token)
            return nil
        } catch {
            return error.code
        }
    }

    /// Signs any payload with any key id, as a holder of the key could.
    private func sign(
        _ payload: String,
        header: String = #"{"alg":"HS256","kid":"k1","typ":"JWT"}"#
    ) async throws -> String {
        let signer = HMACKey(from: Self.key)
        let keys = await JWTKeyCollection().add(hmac: signer, digestAlgorithm: .sha256)
        let parts = [header, payload].map { base64URL(Data($0.utf8)) }.joined(separator: ".")
        let signature = try await keys.getKey().sign(Data(parts.utf8))
        return parts + "." + base64URL(Data(signature))
    }

    private func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private func payload(
        _ footlight: String,
        _ rest: String = #""sub":"ann","aud":"footlight","exp":2000,"nbf":900"#
    ) -> String {
        "{\(rest),\"footlight\":\(footlight)}"
    }

    @Test("Verification returns the issued claims for every role")
    func roundTrip() async throws {
        let tokens = await tokens()
        let claims = [
            AccessClaims(identity: "op", role: .operator, expiresAt: 1600),
            AccessClaims(identity: "ann", role: .participant, room: "show", modes: [.sendAndReceive], expiresAt: 1600),
            AccessClaims(
                identity: "ben",
                role: .participant,
                room: "show",
                modes: [.receiveOnly, .sendAndReceive],
                administers: ["streaming"],
                expiresAt: 1600
            ),
            AccessClaims(
                identity: "cas",
                role: .participant,
                room: "show",
                modes: [.sendAndReceive],
                sources: [.mic],
                maximumBitrate: 2500,
                expiresAt: 1600,
                tokenID: "t-1"
            ),
            AccessClaims(identity: "mix", role: .mixer, room: "show", epoch: 3, expiresAt: 1600),
            AccessClaims(identity: "mon", role: .monitor, expiresAt: 1600),
            AccessClaims(identity: "edge", role: .relay, expiresAt: 1600),
            AccessClaims(identity: "still", role: .thumbnail, room: "show", expiresAt: 1600),
        ]
        for claim in claims {
            var claim = claim
            claim.tokenID = claim.tokenID ?? "t-2"
            claim.keyID = "k1"
            #expect(try await tokens.verify(tokens.issue(claim)) == claim)
        }
        let minted = try await tokens.issue(identity: "eve", room: "show", mode: .receiveOnly, expiresIn: 600)
        let found = try await tokens.verify(minted)
        var eve = AccessClaims(
            identity: "eve",
            role: .participant,
            room: "show",
            modes: [.receiveOnly],
            expiresAt: 1600,
            tokenID: found.tokenID
        )
        eve.keyID = "k1"
        #expect(found == eve)
        #expect(try await tokens.verify(tokens.issueOperator(expiresIn: 1)).role == .operator)
    }

    @Test(
        "20101 rejects malformed tokens",
        arguments: ["", "abc", "a.b", "a.b.c", "..", "a.b.c.d", String(repeating: "x", count: 9000)]
    )
    func unreadable(text: String) async {
        #expect(await code(text) == 20101)
    }

    @Test("20107 rejects another key, key id or algorithm, a missing signature, and a changed letter")
    func signatures() async throws {
        let good = try await sign(payload(#"{"role":"operator"}"#))
        #expect(await code(good) == nil)
        let other = try await tokens(key: [UInt8](repeating: 2, count: 32)).issueOperator(expiresIn: 100)
        #expect(await code(other) == 20107)
        #expect(try await code(tokens(kid: "k2").issueOperator(expiresIn: 100)) == 20107)
        for header in [
            #"{"alg":"none","kid":"k1"}"#, #"{"alg":"HS512","kid":"k1"}"#, #"{"alg":"RS256","kid":"k1"}"#,
            #"{"alg":"HS256"}"#, #"{"alg":"HS256","kid":"../k1"}"#, #"{"alg":"HS256","kid":"k1","crit":["b64"]}"#,
        ] {
            #expect(try await code(sign(payload(#"{"role":"operator"}"#), header: header)) == 20107, "\(header)")
        }
        let parts = good.split(separator: ".")
        let forged = base64URL(Data(payload(#"{"role":"operator","x":1}"#).utf8))
        #expect(await code("\(parts[0]).\(forged).\(parts[2])") == 20107)
    }

    @Test("20104 rejects an expired or future token, with 30 s of tolerated clock skew")
    func times() async throws {
        let token = try await sign(payload(#"{"role":"operator"}"#))
        for (now, expected) in [(869.0, 20104), (870, nil), (2029, nil), (2031, 20104)] as [(Double, Int?)] {
            #expect(await code(token, at: now) == expected, "at \(now)")
        }
    }

    @Test("20101 and 20103 exp, nbf, sub and aud are required, and aud must be footlight")
    func required() async throws {
        let grants = #"{"role":"operator"}"#
        for rest in [
            #""sub":"a","aud":"footlight","nbf":900"#, #""sub":"a","aud":"footlight","exp":2000"#,
            #""sub":"a","exp":2000,"nbf":900"#, #""aud":"footlight","exp":2000,"nbf":900"#,
        ] {
            #expect(try await code(sign(payload(grants, rest))) == 20101, "\(rest)")
        }
        #expect(try await code(sign(payload(grants, #""sub":"a","aud":"else","exp":2000,"nbf":900"#))) == 20103)
        let list = #""sub":"a","aud":["else","footlight"],"exp":2000,"nbf":900"#
        #expect(try await code(sign(payload(grants, list))) == nil)
    }

    @Test("20106 rejects a token with contradictory or unknown grants")
    func grants() async throws {
        for grants in [
            #"{"room":"show","mode":"RECV_ONLY","pub":{"sources":["camera"]}}"#,
            #"{"room":"show","mode":"SIGNALLING_ONLY","pub":{"sources":["mic"]}}"#,
            #"{"room":"show","mode":"EVERYTHING"}"#, #"{"room":"show"}"#, #"{"mode":"RECV_ONLY"}"#,
            #"{"role":"root"}"#, #"{"role":"mixer"}"#, "{}",
            #"{"room":"show","mode":"SEND_AND_RECV","pub":{"sources":["smell"]}}"#,
            #"{"room":"show","mode":"SEND_AND_RECV","pub":{"sources":["mic"],"max_kbps":0}}"#,
            #"{"room":"show","mode":"RECV_ONLY","allowed_modes":["SIGNALLING_ONLY"],"pub":{"sources":["mic"]}}"#,
        ] {
            #expect(try await code(sign(payload(grants))) == 20106, "\(grants)")
        }
        #expect(try await code(sign(payload(#"{"room":"show","mode":"RECV_ONLY","pub":{"sources":[]}}"#))) == nil)
        let old = try await tokens().verify(try await sign(payload(#"{"room":"show","mode":"CONFERENCE"}"#)))
        #expect(old.modes == [.sendAndReceive])
    }

    @Test("A token names the tracks of its host, by our names or those of other systems; without names it grants none")
    func sources() async throws {
        func claims(_ publishing: String) async throws -> AccessClaims {
            try await tokens().verify(try await sign(payload(#"{"room":"show","mode":"SEND_AND_RECV"\#(publishing)}"#)))
        }
        #expect(try await claims("").sources.isEmpty)
        let names = #","pub":{"sources":["microphone","screen_share"],"max_kbps":900}"#
        let some = try await claims(names)
        #expect(some.sources == [.mic, .screen] && some.maximumBitrate == 900)
        let both = #"{"room":"show","mode":"RECV_ONLY","allowed_modes":["SEND_AND_RECV"],"pub":{"sources":["camera"]}}"#
        let later = try await tokens().verify(try await sign(payload(both)))
        #expect(later.modes == [.receiveOnly, .sendAndReceive] && later.sources == [.camera])
    }

    @Test("20101 rejects a token whose id is revoked, and no other")
    func revoked() async throws {
        let tokens = await AccessTokens(signingKey: Self.key, kid: "k1")
        let end = Date().timeIntervalSince1970 + 60
        let (first, second) = (
            try await tokens.issue(AccessClaims(identity: "a", role: .operator, expiresAt: end, tokenID: "one")),
            try await tokens.issue(AccessClaims(identity: "b", role: .operator, expiresAt: end, tokenID: "two"))
        )
        #expect(try await tokens.verify(first).tokenID == "one")
        let copy = tokens
        try await tokens.revocations.revoke(
            RevokedToken(id: "one", revokedAt: 0, revokedBy: "b", expiresAt: end)
        )
        await #expect(throws: StageError.tokenRevoked) { try await copy.verify(first) }
        #expect(try await tokens.verify(second).identity == "b")
        try await tokens.revocations.restore("one")
        #expect(try await tokens.verify(first).tokenID == "one")
    }

    @Test("Every issued token has a unique id")
    func ids() async throws {
        let tokens = await tokens()
        var ids: Set<String> = []
        for token in [
            try await tokens.issueOperator(expiresIn: 60), try await tokens.issueOperator(expiresIn: 60),
            try await tokens.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60),
            try await tokens.issue(identity: "m", room: "show", role: .mixer, epoch: 1, expiresIn: 60),
        ] {
            let id = try #require(try await tokens.verify(token).tokenID)
            #expect(id.wholeMatch(of: /TK[0-9a-f]{32}/) != nil, "\(id)")
            ids.insert(id)
        }
        #expect(ids.count == 4)
    }

    @Test(
        "A token without an id, or with too long a one, is identified by a digest of its signed part",
        arguments: ["", #","jti":"""#, #","jti":"\#(String(repeating: "x", count: 200))""#]
    )
    func digest(id: String) async throws {
        let rest = #""sub":"ann","aud":"footlight","exp":2000,"nbf":900"# + id
        let token = try await sign(payload(#"{"role":"operator"}"#, rest))
        let tokens = await tokens()
        let claims = try await tokens.verify(token)
        let digest = try #require(claims.tokenID)
        #expect(digest.wholeMatch(of: /sha256-[A-Za-z0-9_-]{43}/) != nil, "\(digest)")
        try await tokens.revocations.revoke(
            RevokedToken(id: digest, revokedAt: 0, revokedBy: "b", expiresAt: 2000)
        )
        // The last letter of the signature has two unused bits.
        for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
            let variant = String(token.dropLast()) + String(last)
            let claims = try? await tokens.verify(variant)
            #expect(claims == nil, "\(last)")
        }
        await #expect(throws: StageError.tokenRevoked) { try await tokens.verify(token) }
    }

    @Test("After a rotation all copies sign with the new key, and a retired key verifies until it is removed")
    func keysInUse() async throws {
        let tokens = await tokens()
        let copy = tokens
        let old = try await tokens.issueOperator(expiresIn: 100)
        let key = [UInt8](repeating: 9, count: 32)
        await tokens.use(signingKey: key, kid: "k2", retired: ["k1": Self.key])
        #expect(try await copy.verify(old).role == .operator)
        let new = try await copy.issueOperator(expiresIn: 100)
        #expect(await code(new) == 20107)
        await tokens.use(signingKey: key, kid: "k2", retired: [:])
        await #expect(throws: StageError.tokenSignatureInvalid) { try await copy.verify(old) }
        #expect(try await copy.verify(new).role == .operator)
    }

    @Test("A mixer's token outlives the signing key, and is valid in the process that issued it only")
    func mixersKey() async throws {
        let tokens = await tokens()
        let copy = tokens
        let mixer = try await tokens.issueMixer(room: "show", epoch: 3, expiresIn: 100)
        await tokens.use(signingKey: [UInt8](repeating: 9, count: 32), kid: "k2", retired: [:])
        let claims = try await copy.verify(mixer)
        #expect(claims.role == .mixer && claims.room == "show" && claims.epoch == 3)
        let other = await self.tokens()
        await #expect(throws: StageError.tokenSignatureInvalid) { try await other.verify(mixer) }
    }

    @Test("Retired keys are loaded from a folder by file name; a damaged key file fails the start")
    func retiredKeys() async throws {
        let folder = try TemporaryFolder()
        #expect(try RetiredKeys.load(from: folder.path + "/none").isEmpty)
        let file = URL(fileURLWithPath: folder.path + "/k1.key")
        try Data((Data(Self.key).base64EncodedString() + "\n").utf8).write(to: file)
        try Data("not a key".utf8).write(to: URL(fileURLWithPath: folder.path + "/notes.txt"))
        let retired = try RetiredKeys.load(from: folder.path)
        #expect(retired == ["k1": Self.key])
        let old = try await AccessTokens(signingKey: Self.key, kid: "k1").issueOperator(expiresIn: 60)
        let next = await AccessTokens(signingKey: [UInt8](repeating: 9, count: 32), kid: "k2", retired: retired)
        #expect(try await next.verify(old).role == .operator)
        for damage in ["c2hvcnQ=", "***"] {
            try Data(damage.utf8).write(to: file)
            #expect(throws: RetiredKeys.DamagedKey.self) { try RetiredKeys.load(from: folder.path) }
        }
    }

    @Test("During a rotation the retired key verifies but does not sign")
    func rotation() async throws {
        let old = try await tokens().issueOperator(expiresIn: 100)
        let next = await AccessTokens(
            signingKey: [UInt8](repeating: 9, count: 32),
            kid: "k2",
            retired: ["k1": Self.key]
        ) {
            1000
        }
        #expect(try await next.verify(old).role == .operator)
        let new = try await next.issueOperator(expiresIn: 100)
        #expect(await code(new) == 20107)
        #expect(try await next.verify(new).role == .operator)
    }
}
