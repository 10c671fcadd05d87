import Testing

@testable import Stage

@Suite("Stream keys")
struct StreamKeyTests {
    private let pepper = [UInt8]("pepper".utf8)

    @Test("A key is sk_, eight hexadecimal digits, _ and 43 characters of base64url, and no two are the same")
    func shape() throws {
        let pattern = /sk_[0-9a-f]{8}_[A-Za-z0-9_-]{43}/
        let keys = (0..<500).map { _ in StreamKey().text }
        #expect(keys.allSatisfy { $0.wholeMatch(of: pattern) != nil })
        #expect(Set(keys).count == keys.count)
        for key in keys {
            #expect(StreamKey(key)?.text == key)
        }
    }

    @Test("Base64url is that of RFC 4648, without padding")
    func base64() {
        let vectors = [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy"),
        ]
        for (plain, encoded) in vectors {
            #expect(Base64URL.encode([UInt8](plain.utf8)) == encoded)
        }
        #expect(Base64URL.encode([0xFB, 0xFF, 0xFE]) == "-__-")
    }

    @Test("rejects malformed keys", arguments: ["", "sk_", "stream", "sk_0123abcd", "sk_ä123abc_"])
    func wrongShape(text: String) {
        #expect(StreamKey(text) == nil)
        #expect(StreamKey(StreamKey().text + "x") == nil)
    }

    @Test("the keyring verifies a key by its digest, and rejects any changed character")
    func ring() throws {
        var ring = StreamKeyring(pepper: pepper)
        let owner = StreamKeyring.Owner(roomSID: "RM1", participantSID: "PA1")
        let key = ring.issue(to: owner)
        #expect(ring.owner(of: key) == owner)
        var characters = Array(key.text)
        for index in 3..<characters.count where characters[index] != "_" {
            let good = characters[index]
            characters[index] = good == "a" ? "b" : "a"
            if let wrong = StreamKey(String(characters)) {
                #expect(ring.owner(of: wrong) == nil)
            }
            characters[index] = good
        }
        #expect(!"\(ring)".contains(key.text), "the key itself is not kept")
    }

    @Test("Another pepper makes another digest, so stolen digests open nothing elsewhere")
    func pepperCounts() {
        let key = StreamKey()
        #expect(key.digest(pepper: pepper) == key.digest(pepper: pepper))
        #expect(key.digest(pepper: pepper) != key.digest(pepper: [1]))
        #expect(key.digest(pepper: pepper).count == 32)
    }

    @Test("The comparison finds a difference in any byte, and in the length")
    func comparison() {
        let digest = StreamKey().digest(pepper: pepper)
        #expect(StreamKey.isEqualInConstantTime(digest, digest))
        for index in digest.indices {
            var other = digest
            other[index] ^= 1
            #expect(!StreamKey.isEqualInConstantTime(digest, other))
        }
        #expect(!StreamKey.isEqualInConstantTime(digest, Array(digest.dropLast())))
    }

    @Test("Revoked keys are unknown, by participant and by room")
    func revocation() {
        var ring = StreamKeyring(pepper: pepper)
        let first = ring.issue(to: .init(roomSID: "RM1", participantSID: "PA1"))
        let second = ring.issue(to: .init(roomSID: "RM1", participantSID: "PA2"))
        let third = ring.issue(to: .init(roomSID: "RM2", participantSID: "PA3"))
        ring.revoke(participantSID: "PA1")
        #expect(ring.owner(of: first) == nil)
        #expect(ring.owner(of: second) != nil)
        ring.revoke(roomSID: "RM1")
        #expect(ring.owner(of: second) == nil)
        #expect(ring.owner(of: third) != nil)
        #expect(ring.count == 1)
    }
}
