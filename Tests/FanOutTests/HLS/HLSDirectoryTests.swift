import FootlightTesting
import HLS
import Media
import NIOCore
import Stage
import TestSupport
import Testing

@testable import FanOut

@Suite("HLS directory")
struct HLSDirectoryTests {
    @Test("removes an ended program after a minute")
    func endedRetention() {
        let clock = ManualClock()
        let directory = HLSDirectory(configuration: HLSConfiguration(), clock: clock)
        let program = directory.open("r")
        #expect(directory.open("r") === program)
        directory.close("r")
        clock.advance(by: .seconds(59))
        directory.sweep()
        #expect(directory.program("r") === program)
        clock.advance(by: .seconds(2))
        directory.sweep()
        #expect(directory.program("r") == nil)
    }

    @Test("opens a new program for a room that starts again under the same name")
    func newRun() {
        let directory = HLSDirectory(configuration: HLSConfiguration(), clock: ManualClock())
        let old = directory.open("r")
        directory.close("r")
        let new = directory.open("r")
        #expect(new !== old)
        directory.sweep()
        #expect(directory.program("r") === new)
    }

    @Test("never removes a running program")
    func living() {
        let clock = ManualClock()
        let directory = HLSDirectory(configuration: HLSConfiguration(), clock: clock)
        let program = directory.open("r")
        clock.advance(by: .seconds(3600))
        directory.sweep()
        #expect(directory.program("r") === program)
    }

    @Test("a player that was told to retry counts as waiting for ten seconds, while the room exists")
    func awaited() {
        let clock = ManualClock()
        let directory = HLSDirectory(configuration: HLSConfiguration(), clock: clock)
        _ = directory.open("r")
        directory.asked(for: "elsewhere")
        #expect(directory.roomsWithWaitingPlayers.isEmpty)
        directory.asked(for: "r")
        clock.advance(by: .seconds(9))
        #expect(directory.roomsWithWaitingPlayers == ["r"])
        clock.advance(by: .seconds(2))
        #expect(directory.roomsWithWaitingPlayers.isEmpty)
        directory.asked(for: "r")
        directory.close("r")
        #expect(directory.roomsWithWaitingPlayers.isEmpty)
    }
}

@Suite("Segment numbers over restarts", .enabled(if: TestRun.isFull))
struct SegmentNumberingTests {
    private static let names = ["720p", "360p"]

    private func number(_ tag: String, in playlist: ByteBuffer?) -> Int? {
        let lines = String(buffer: playlist ?? ByteBuffer()).split(separator: "\n")
        return lines.first { $0.hasPrefix("#EXT-X-\(tag):") }.flatMap { Int($0.split(separator: ":")[1]) }
    }

    private func play(_ programs: HLSRenditions, seconds: Int) {
        for program in [programs.program] + programs.renditions.map(\.program) {
            for packet in Packets.program(seconds: seconds) { program.receive(packet) }
        }
    }

    @Test("segment numbers and discontinuities of a run are above those of the previous one, in all renditions")
    func runs() throws {
        let configuration = HLSConfiguration()
        let begin = 1_800_000_000.0
        for names in [[], Self.names] {
            var last = 0
            for run in 0..<3 {
                // Each gateway runs for a minute and restarts at once.
                let first = configuration.firstNumber(at: begin + Double(run) * 60)
                let directory = HLSDirectory(configuration: configuration, firstNumber: { first })
                let programs = directory.open("r", renditions: names)
                play(programs, seconds: 60)
                let all = [programs.program] + programs.renditions.map(\.program)
                for program in all {
                    let playlist = program.mediaPlaylist()
                    let sequence = try #require(number("MEDIA-SEQUENCE", in: playlist))
                    let discontinuities = try #require(number("DISCONTINUITY-SEQUENCE", in: playlist))
                    #expect(sequence > last && sequence >= first && discontinuities >= first)
                    #expect(sequence < first + 60)
                }
                let sequences = all.map { number("MEDIA-SEQUENCE", in: $0.mediaPlaylist()) }
                #expect(Set(sequences).count == 1)
                last = try #require(sequences[0]) + 20
            }
        }
    }

    @Test("a restarted mixer and a late rendition continue the numbers")
    func mixers() throws {
        let directory = HLSDirectory(configuration: HLSConfiguration(), firstNumber: { 1000 })
        let programs = directory.open("r", renditions: Self.names)
        let (main, renditions) = (programs.program, programs.renditions.map(\.program))
        for packet in Packets.program(seconds: 20) { main.receive(packet) }
        for packet in Packets.program(from: 8000, seconds: 12) { renditions[0].receive(packet) }
        let before = [main, renditions[0]].map { number("MEDIA-SEQUENCE", in: $0.mediaPlaylist()) ?? 0 }
        #expect(before == [1000, 1004])
        for program in [main] + renditions { program.publisherChanged() }
        // Only the new mixer publishes the second rendition.
        for program in [main] + renditions {
            for packet in Packets.program(from: 21_000, seconds: 30) { program.receive(packet) }
        }
        let after = ([main] + renditions).map { number("MEDIA-SEQUENCE", in: $0.mediaPlaylist()) ?? 0 }
        #expect(after.allSatisfy { $0 > 1010 })
        #expect(Set(after).count <= 2 && (after.max() ?? 0) - (after.min() ?? 0) <= 1, "\(after)")
    }

    @Test("a multivariant playlist fits into one packet with four renditions, and two with the largest ladder")
    func multivariant() throws {
        // An Ethernet packet carries 1 448 bytes of a stream; the response head has less than 400.
        for (count, packets) in [(4, 1), (RenditionLadder.most + 1, 2)] {
            let names = (0..<count).map { "rendition-\($0)" }
            let programs = HLSDirectory(configuration: HLSConfiguration(), firstNumber: { 500_000_000 })
                .open("r", renditions: names)
            play(programs, seconds: 8)
            let playlist = try #require(programs.multivariantPlaylist(sid: String(repeating: "x", count: 32)))
            #expect(playlist.readableBytes < packets * 1448 - 400, "\(playlist.readableBytes)")
        }
    }
}
