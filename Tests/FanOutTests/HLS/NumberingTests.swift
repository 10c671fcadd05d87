@testable import FanOut
import HLS
import Media
import NIOCore
import Stage
import Testing

@Suite("Numbers of HLS segments over restarts")
struct NumberingTests {
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

    @Test("A run begins above all numbers of the one before it, in every rendition, and its discontinuities do too")
    func runs() throws {
        let configuration = HLSConfiguration()
        let begin = 1_800_000_000.0
        for names in [[], Self.names] {
            var last = 0
            for run in 0..<3 {
                // Each gateway lives for a minute and is back at once.
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

    @Test("A mixer that starts anew goes on with the numbers, and so does a rendition that comes late")
    func mixers() throws {
        let directory = HLSDirectory(configuration: HLSConfiguration(), firstNumber: { 1000 })
        let programs = directory.open("r", renditions: Self.names)
        let (main, renditions) = (programs.program, programs.renditions.map(\.program))
        for packet in Packets.program(seconds: 20) { main.receive(packet) }
        for packet in Packets.program(from: 8000, seconds: 12) { renditions[0].receive(packet) }
        let before = [main, renditions[0]].map { number("MEDIA-SEQUENCE", in: $0.mediaPlaylist()) ?? 0 }
        #expect(before == [1000, 1004])
        for program in [main] + renditions { program.publisherChanged() }
        // The second rendition is published by the new mixer only.
        for program in [main] + renditions {
            for packet in Packets.program(from: 21_000, seconds: 30) { program.receive(packet) }
        }
        let after = ([main] + renditions).map { number("MEDIA-SEQUENCE", in: $0.mediaPlaylist()) ?? 0 }
        #expect(after.allSatisfy { $0 > 1010 })
        #expect(Set(after).count <= 2 && (after.max() ?? 0) - (after.min() ?? 0) <= 1, "\(after)")
    }

    @Test("A multivariant playlist is sent as it is: one packet with four renditions, two with the fullest ladder")
    func multivariant() throws {
        // An Ethernet packet carries 1 448 bytes of a stream; the head of the answer is below 400.
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
