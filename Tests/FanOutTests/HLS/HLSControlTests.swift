@testable import FanOut
import FootlightTesting
import HLS
import Media
import NIOCore
import NIOPosix
import Stage
import Synchronization
import Testing

@Suite("HLS by itself and by command")
struct HLSControlTests {
    /// A room's feed with its HLS, and what was told of it.
    private final class Stand: Sendable {
        let clock = ManualClock()
        let directory: HLSDirectory
        let control: HLSControl
        let feed: Feed
        private let group: MultiThreadedEventLoopGroup
        private let news: News

        private final class News: Sendable {
            let states = Mutex<[HLSState]>([])
            let faults = Mutex<[Int]>([])
            let demands = Mutex<[Bool]>([])
        }

        init(_ group: MultiThreadedEventLoopGroup) {
            let news = News()
            self.group = group
            self.news = news
            directory = HLSDirectory(configuration: HLSConfiguration(), clock: clock)
            feed = Feed(name: "show", group: group, configuration: FanOutConfiguration(tick: .zero))
            control = HLSControl(directory: directory, clock: clock) { _, error in
                news.faults.withLock { $0.append(error.code) }
            } onDemand: { _, isAsked in
                news.demands.withLock { $0.append(isAsked) }
            } onChange: { _, status in
                news.states.withLock { $0.append(status.state) }
            }
            control.roomBegan("show", feed: feed)
        }

        /// States since the last call.
        func states() async throws -> [HLSState] {
            // Commands and packets hop to the feed's loop, and so does what follows from what they do there.
            for _ in 0..<3 { try await feed.settle(group) }
            return news.states.withLock { states in
                defer { states.removeAll() }
                return states
            }
        }

        /// Whether a program was demanded, each time that changed.
        var demands: [Bool] { news.demands.withLock { $0 } }
        var faults: [Int] { news.faults.withLock { $0 } }

        func play(from start: Int64 = 0, seconds: Int) {
            for packet in Packets.program(from: start, seconds: seconds) { feed.receive(packet) }
        }

        var playlist: String? {
            directory.program("show")?.mediaPlaylist().map { String(buffer: $0) }
        }
    }

    private func withStand(_ body: (Stand) async throws -> Void) async throws {
        try await withLoops(1) { group in try await body(Stand(group)) }
    }

    @Test("V23 It starts with the program, and is playable with the first whole segment")
    func automatic() async throws {
        try await withStand { stand in
            #expect(stand.control.status(room: "show").state == .stopped)
            stand.play(seconds: 1)
            let first = try await stand.states()
            #expect(first == [.starting, .started])
            #expect(stand.playlist == nil)
            stand.play(from: 1000, seconds: 12)
            #expect(try await stand.states() == [.playable])
            #expect(stand.playlist?.contains("#EXTINF") == true)
            #expect(stand.control.status(room: "show").playableAt != nil)
            try stand.control.start(room: "show")
            #expect(throws: StageError.hlsAlreadyStarted) { try stand.control.start(room: "show") }
            #expect(try await stand.states().isEmpty)
        }
    }

    @Test("V23 Stopped by command, players find the end of the list, and another list after the next start")
    func stopAndStart() async throws {
        try await withStand { stand in
            stand.play(seconds: 1)
            #expect(try await stand.states() == [.starting, .started])
            stand.play(from: 1000, seconds: 11)
            #expect(try await stand.states() == [.playable])
            let first = stand.directory.program("show")
            try stand.control.stop(room: "show")
            #expect(try await stand.states() == [.stopping, .stopped])
            #expect(stand.playlist?.contains("#EXT-X-ENDLIST") == true)
            #expect(throws: StageError.hlsNotStopped("HLS does not run")) { try stand.control.stop(room: "show") }
            let ended = stand.playlist
            stand.play(from: 12_000, seconds: 12)
            #expect(try await stand.states().isEmpty)
            #expect(stand.playlist == ended)
            try stand.control.start(room: "show")
            #expect(try await stand.states() == [.starting, .started])
            stand.play(from: 24_000, seconds: 12)
            #expect(try await stand.states() == [.playable])
            #expect(stand.directory.program("show") !== first)
            #expect(stand.playlist?.contains("#EXT-X-ENDLIST") == false)
        }
    }

    @Test("V23 Started by command without a program, it fails after half a minute with 4016")
    func neverStarted() async throws {
        try await withStand { stand in
            try stand.control.start(room: "show")
            #expect(try await stand.states() == [.starting])
            stand.clock.advance(by: .seconds(29))
            stand.control.tick()
            #expect(try await stand.states().isEmpty)
            stand.clock.advance(by: .seconds(2))
            stand.control.tick()
            #expect(try await stand.states() == [.stopping, .stopped])
            #expect(stand.faults == [4016])
        }
    }

    @Test("Started by command it demands a program until it is stopped or fails; what runs by itself never does")
    func demands() async throws {
        try await withStand { stand in
            stand.play(seconds: 13)
            _ = try await stand.states()
            #expect(stand.demands.isEmpty)
            try stand.control.start(room: "show")
            #expect(stand.demands == [true])
            try stand.control.stop(room: "show")
            #expect(stand.demands == [true, false])
            _ = try await stand.states()
        }
        try await withStand { stand in
            try stand.control.start(room: "show")
            #expect(stand.demands == [true])
            stand.clock.advance(by: .seconds(31))
            stand.control.tick()
            _ = try await stand.states()
            #expect(stand.demands == [true, false] && stand.faults == [4016])
        }
    }

    @Test("The end of the room ends the list; a room that is not there has no HLS")
    func roomEnds() async throws {
        try await withStand { stand in
            stand.play(seconds: 1)
            _ = try await stand.states()
            stand.play(from: 1000, seconds: 11)
            _ = try await stand.states()
            stand.control.roomEnded("show")
            stand.play(from: 12_000, seconds: 4)
            _ = try await stand.states()
            #expect(stand.playlist?.contains("#EXT-X-ENDLIST") == true)
            #expect(stand.control.status(room: "show").state == .stopped)
            #expect(throws: StageError.roomNotFound) { try stand.control.start(room: "show") }
        }
    }
}
