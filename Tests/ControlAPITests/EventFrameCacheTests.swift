import Foundation
import FootlightModel
import NIOCore
import Testing

@testable import ControlAPI
@testable import Stage

@Suite("The cache of encoded events")
struct EventFrameCacheTests {
    private func event(_ payload: StageEvent.Payload, _ revision: UInt64, at: Double = 0) -> StageEvent {
        StageEvent(roomSID: "RM1", roomName: "show", revision: revision, payload: payload, at: at)
    }

    private func text(_ frame: ByteBuffer) -> String { String(buffer: frame) }

    @Test("An event is encoded as id, name and one line of data; a heartbeat is preceded by a comment")
    func shape() async throws {
        try await ControlServer.run { (server) async throws in
            let context = EventContext(
                answers: server.routes().webhookEvents.answers,
                addresses: PlaybackAddresses(host: "h", httpPort: 1, rtmpPort: 2)
            )
            let frames = EventFrameCache()
            let state = event(.livestreamStateChanged(LivestreamStatus(state: .starting)), 7)
            let lines = text(try frames.frame(state, context: context)).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            #expect(lines.count == 5 && lines[0] == "id: 7" && lines[1] == "event: livestream.state_changed")
            #expect(lines[2].hasPrefix("data: {") && lines[3].isEmpty && lines[4].isEmpty)
            let beat = text(try frames.frame(event(.heartbeat, 7, at: 5), context: context))
            #expect(beat.hasPrefix(": ping\nid: 7\nevent: heartbeat\ndata: {"))
        }
    }

    @Test("Events that are the same for all readers are cached, the oldest evicted first; others are encoded each time")
    func keeping() async throws {
        try await ControlServer.run { (server) async throws in
            let answers = server.routes().webhookEvents.answers
            func context(_ host: String) -> EventContext {
                EventContext(answers: answers, addresses: PlaybackAddresses(host: host, httpPort: 1, rtmpPort: 2))
            }
            let frames = EventFrameCache(capacity: 2)
            // The differing content of the frames shows which was cached: the first one encoded.
            func output(_ name: String) -> StageEvent.Payload {
                .livestreamOutputUpdated(OutputStatus(name: name, url: "", maskedStreamKey: "", state: .connected))
            }
            func seen(_ payload: StageEvent.Payload, _ revision: UInt64) throws -> String {
                text(try frames.frame(event(payload, revision), context: context("a")))
            }
            #expect(try seen(output("one"), 1).contains("one"))
            #expect(try seen(output("other"), 1).contains("one"), "kept")
            #expect(try seen(output("two"), 2).contains("two"))
            #expect(try seen(output("three"), 3).contains("three"))
            #expect(try seen(output("other"), 1).contains("other"), "forgotten when two newer ones came")
            #expect(try seen(output("other"), 3).contains("three"))

            let playable = event(.hlsStateChanged(HLSStatus(state: .playable, playableAt: 1)), 9)
            #expect(text(try frames.frame(playable, context: context("first"))).contains("//first:1/"))
            #expect(text(try frames.frame(playable, context: context("second"))).contains("//second:1/"))
            for error in [StageError.duplicateIdentity, .readerTooSlow] {
                let last = text(try frames.frame(event(.sessionDisconnected(error), 9), context: context("a")))
                #expect(last.contains("\"code\":\(error.code)"))
            }
        }
    }
}
