import Foundation
import Glibc
import Media
import Stage
import Testing

@testable import Egress

@Suite("A spare address before it is needed", .serialized)
struct BackupProbeTests {
    /// The push itself never gets to the spare.
    private static var lookingOnly: PushConfiguration {
        var configuration = PushFixture.quick
        configuration.failuresBeforeSpare = .max
        return configuration
    }

    @Test("It is greeted as the push begins, is offered no stream and told no key, and is let go")
    func greeted() throws {
        let server = try Listener()
        defer { server.end() }
        let talks = Latch<[(hasGreeted: Bool, hasHungUp: Bool, received: [UInt8])]>([])
        server.serve { socket, isEnded in
            var talk = ServerTalk(socket: socket, isEnded: isEnded)
            let hasGreeted = talk.acceptPublish(upTo: "connect")
            let hasHungUp = talk.waitForEnd()
            let received = talk.received
            talks.update { $0.append((hasGreeted, hasHungUp, received)) }
        }
        let fixture = try PushFixture(
            "spared",
            url: "rtmp://127.0.0.1:\(try Port.free())/live",
            key: "key-nobody-needs",
            spare: "rtmp://127.0.0.1:\(server.port)/standby",
            configuration: Self.lookingOnly
        )
        let talk = try #require(talks.wait(until: .now().advanced(seconds: 20)) { $0.first })
        #expect(talk.hasGreeted && talk.hasHungUp)
        func contains(_ text: String) -> Bool { Data(talk.received).range(of: Data(text.utf8)) != nil }
        #expect(contains("standby"))
        for word in ["key-nobody-needs", "releaseStream", "FCPublish", "createStream", "publish"] {
            #expect(!contains(word), "\(word)")
        }
        #expect(fixture.push.status.backupFault == nil)
        #expect(fixture.end() < 1)
    }

    @Test("Where nobody answers, that is known while the first address is still tried")
    func unreachable() throws {
        let port = try Port.free()
        let fixture = try PushFixture(
            "alone",
            url: "rtmp://127.0.0.1:\(port)/live",
            key: "k",
            spare: "rtmp://127.0.0.1:\(port)/spare",
            configuration: Self.lookingOnly
        )
        let known = try #require(fixture.wait { $0.backupFault != nil })
        #expect(known.backupFault?.code == .unreachable && known.state == .connecting && !known.usesBackup)
        #expect(fixture.end() < 1)
    }
}
