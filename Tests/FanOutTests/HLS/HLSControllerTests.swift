@testable import FanOut
import FootlightTesting
import HLS
import Media
import NIOCore
import NIOPosix
import Stage
import Synchronization
import Testing

@Suite("HLS controller")
struct HLSControllerTests {
    /// A room's feed with its HLS controller, and the reported events.
    private final class Fixture: Sendable {
        let clock = ManualClock()
        let directory: HLSDirectory
        let control: HLSController
        let feed: Feed
        private let group: MultiThreadedEventLoopGroup
        private let statusLog: StatusLog

        private final class StatusLog: Sendable {
            let states = Mutex<[HLSState]>([])
            let faults = Mutex<[Int]>([])
            let demands = Mutex<[Bool]>([])
        }

        init(_ group: MultiThreadedEventLoopGroup) {
            let statusLog = StatusLog()
            self.group = group
            self.statusLog = statusLog
            directory = HLSDirectory(configuration: HLSConfiguration(), clock: clock)
            feed = Feed(name: "show", group: group, configuration: FanOutConfiguration(tick: .zero))
            control = HLSController(directory: directory, clock: clock) { _, error in
                statusLog.faults.withLock { $0.append(error.code) }
            } onDemand: { _, isRequested in
                statusLog.demands.withLock { $0.append(isRequested) }
            } onChange: { _, status in
                statusLog.states.withLock { $0.append(status.state) }
            }
            control.roomBegan("show", feed: feed)
        }

        /// Returns the states since the last call.
        func states() async throws -> [HLSState] {
            // Commands and packets are performed on the feed's loop, and their results as well.
            for _ in 0..<3 { try await feed.settle(group) }
            return statusLog.states.withLock { states in
                defer { states.removeAll() }
                return states
            }
        }

        /// Whether a program was required, one entry per change.
        var demands: [Bool] { statusLog.demands.withLock { $0 } }
        var faults: [Int] { statusLog.faults.withLock { $0 } }

        func play(from start: Int64 = 0, seconds: Int) {
            for packet in Packets.program(from: start, seconds: seconds) { feed.receive(packet) }
        }

        var playlist: String? {
            directory.program("show")?.mediaPlaylist().map { String(buffer: $0) }
        }
    }

    private func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        try await withLoops(1) { group in try await body(Fixture(group)) }
    }

    @Test("V23 starts with the program, and is playable after the first complete segment")
    func automatic() async throws {
        try await withFixture { fixture in
            #expect(fixture.control.status(room: "show").state == .stopped)
            fixture.play(seconds: 1)
            let first = try await fixture.states()
            #expect(first == [.starting, .started])
            #expect(fixture.playlist == nil)
            fixture.play(from: 1000, seconds: 12)
            #expect(try await fixture.states() == [.playable])
            #expect(fixture.playlist?.contains("#EXTINF") == true)
            #expect(fixture.control.status(room: "show").playableAt != nil)
            try fixture.control.start(room: "show")
            #expect(throws: StageError.hlsAlreadyStarted) { try fixture.control.start(room: "show") }
            #expect(try await fixture.states().isEmpty)
        }
    }

    @Test("V23 ends the playlist on stop, and opens a new one on the next start")
    func stopAndStart() async throws {
        try await withFixture { fixture in
            fixture.play(seconds: 1)
            #expect(try await fixture.states() == [.starting, .started])
            fixture.play(from: 1000, seconds: 11)
            #expect(try await fixture.states() == [.playable])
            let first = fixture.directory.program("show")
            try fixture.control.stop(room: "show")
            #expect(try await fixture.states() == [.stopping, .stopped])
            #expect(fixture.playlist?.contains("#EXT-X-ENDLIST") == true)
            #expect(throws: StageError.hlsNotStopped("HLS does not run")) { try fixture.control.stop(room: "show") }
            let ended = fixture.playlist
            fixture.play(from: 12_000, seconds: 12)
            #expect(try await fixture.states().isEmpty)
            #expect(fixture.playlist == ended)
            try fixture.control.start(room: "show")
            #expect(try await fixture.states() == [.starting, .started])
            fixture.play(from: 24_000, seconds: 12)
            #expect(try await fixture.states() == [.playable])
            #expect(fixture.directory.program("show") !== first)
            #expect(fixture.playlist?.contains("#EXT-X-ENDLIST") == false)
        }
    }

    @Test("V23 fails with 4016 half a minute after a start without a program")
    func neverStarted() async throws {
        try await withFixture { fixture in
            try fixture.control.start(room: "show")
            #expect(try await fixture.states() == [.starting])
            fixture.clock.advance(by: .seconds(29))
            fixture.control.tick()
            #expect(try await fixture.states().isEmpty)
            fixture.clock.advance(by: .seconds(2))
            fixture.control.tick()
            #expect(try await fixture.states() == [.stopping, .stopped])
            #expect(fixture.faults == [4016])
        }
    }

    @Test("requires a program from a start command until a stop or failure, and never when started automatically")
    func demands() async throws {
        try await withFixture { fixture in
            fixture.play(seconds: 13)
            _ = try await fixture.states()
            #expect(fixture.demands.isEmpty)
            try fixture.control.start(room: "show")
            #expect(fixture.demands == [true])
            try fixture.control.stop(room: "show")
            #expect(fixture.demands == [true, false])
            _ = try await fixture.states()
        }
        try await withFixture { fixture in
            try fixture.control.start(room: "show")
            #expect(fixture.demands == [true])
            fixture.clock.advance(by: .seconds(31))
            fixture.control.tick()
            _ = try await fixture.states()
            #expect(fixture.demands == [true, false] && fixture.faults == [4016])
        }
    }

    @Test("ends the playlist with the room; a room that does not exist has no HLS")
    func roomEnds() async throws {
        try await withFixture { fixture in
            fixture.play(seconds: 1)
            _ = try await fixture.states()
            fixture.play(from: 1000, seconds: 11)
            _ = try await fixture.states()
            fixture.control.roomEnded("show")
            fixture.play(from: 12_000, seconds: 4)
            _ = try await fixture.states()
            #expect(fixture.playlist?.contains("#EXT-X-ENDLIST") == true)
            #expect(fixture.control.status(room: "show").state == .stopped)
            #expect(throws: StageError.roomNotFound) { try fixture.control.start(room: "show") }
        }
    }
}
