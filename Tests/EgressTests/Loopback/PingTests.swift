import Foundation
import Glibc
import Media
import Stage
import Synchronization
import Testing

@testable import Egress

@Suite("A push and a server that asks whether it is still there")
struct PingTests {
    @Test("a ping is answered at once with its own time, and the stream goes on")
    func ping() throws {
        let server = try Listener()
        defer { server.end() }
        let answered = Latch<[Double]>([])
        server.serve { socket, isEnded in
            var talk = ServerTalk(socket: socket, isEnded: isEnded)
            guard talk.letIn() else { return }
            for time in [1, 0x1234_5678, UInt32.max] {
                let asked = MonotonicTime.now()
                talk.send(type: 4, chunkStream: 2, [0, 6] + ServerTalk.bigEndian(time))
                guard talk.wait(for: [0, 7] + ServerTalk.bigEndian(time)) else { return }
                answered.update { $0.append(MonotonicTime.now().seconds(since: asked)) }
            }
            while !isEnded() { usleep(20_000) }
        }
        let fixture = try PushFixture("pinged", url: "rtmp://127.0.0.1:\(server.port)/live", key: "k")
        let delays = try #require(answered.wait(until: .now().advanced(seconds: 20)) { $0.count == 3 ? $0 : nil })
        #expect(delays.allSatisfy { $0 < 0.5 }, "\(delays)")
        #expect(fixture.push.status.reconnects == 0)
        #expect(server.connections == 1)
    }
}
