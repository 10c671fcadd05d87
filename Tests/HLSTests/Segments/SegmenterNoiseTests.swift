import HLS
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Segmenter with irregular feeds", .enabled(if: TestRun.isFull))
struct SegmenterNoiseTests {
    /// Returns mostly regular packets with clock jumps, configuration changes, encoder restarts and damage.
    private func packet(at clock: inout Int64, _ random: inout SeededGenerator) -> MediaPacket {
        switch Int.random(in: 0..<200, using: &random) {
        case 0: clock = Int64.random(in: 0...(1 << 50), using: &random)
        case 1: clock = .random(in: .min ... .max, using: &random)
        case 2: clock = Int64.random(in: 0...5000, using: &random)
        case 3...8: clock = clock.addingReportingOverflow(Int64.random(in: -3000...5000, using: &random)).partialValue
        default: clock = clock.addingReportingOverflow(Int64.random(in: 0...40, using: &random)).partialValue
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0: return SyntheticProgram.videoConfiguration
        case 1: return SyntheticProgram.audioConfiguration
        case 2: return .aacConfiguration(ByteBuffer(bytes: [0x12, 0x10]), timestamp: clock)
        case 3:
            let bytes = (0..<8).map { _ in UInt8.random(in: 0...3, using: &random) }
            return .h264Frame(isKey: true, isDisposable: false, timestamp: clock, capacity: 8) {
                $0.writeBytes(bytes)
            }
        case 4...50: return SyntheticProgram.audioFrame(clock)
        default:
            return SyntheticProgram.videoFrame(clock, isKey: Int.random(in: 0..<20, using: &random) == 0)
        }
    }

    @Test("returns consistent output for random feeds", arguments: 0..<20)
    func randomFeed(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let configuration = HLSConfiguration(windowLength: 4, graceLength: 2)
        var broadcast = Broadcast(configuration)
        var clock: Int64 = 0
        if seed % 3 != 0 { broadcast.feed([SyntheticProgram.videoConfiguration]) }
        broadcast.feed([SyntheticProgram.audioConfiguration])
        for round in 0..<4000 {
            broadcast.feed([packet(at: &clock, &random)])
            if round % 997 == 996 { broadcast.segmenter.discontinuity() }
        }
        broadcast.finish()

        #expect(broadcast.segments.count > 10)
        #expect(broadcast.segments.map(\.sequence) == Array(broadcast.segments.indices))
        let names = Set(broadcast.initializations.map(\.name))
        for (segment, next) in zip(broadcast.segments, broadcast.segments.dropFirst()) where !next.isDiscontinuity {
            #expect(abs(segment.start + segment.duration - next.start) < 1e-3)
            #expect(segment.initialization == next.initialization)
        }
        for segment in broadcast.segments {
            #expect(segment.duration > 0 && Int(segment.duration.rounded()) <= configuration.targetDuration)
            #expect(names.contains(segment.initialization))
            #expect(segment.parts.map(\.readableBytes).reduce(0, +) == segment.byteCount)
        }
        for (part, number) in zip(broadcast.parts, 1...) {
            let fragment = try Fragment(part.data)
            #expect(fragment.number == UInt32(number))
            #expect(part.duration > 0)
            #expect((fragment.video?.durations ?? []).allSatisfy { $0 > 0 })
            #expect((fragment.audio?.durations ?? []).allSatisfy { $0 > 0 })
        }
        let listed = Self.listed(of: broadcast.segments, configuration)
        let stored = broadcast.segments.suffix(listed + 2).reduce(0) { $0 + $1.byteCount }
        #expect(broadcast.playlist.storedBytes == stored)
        let leaving = broadcast.segments.dropLast(listed).filter(\.isDiscontinuity).count
        #expect(broadcast.playlist.discontinuitySequence == leaving)
        #expect(broadcast.playlist.mediaSequence == broadcast.segments.count - listed)
    }

    /// Returns the number of segments listed at the end: the window, or more to last three target durations.
    private static func listed(of segments: [Segment], _ configuration: HLSConfiguration) -> Int {
        var list: [Double] = []
        for segment in segments {
            list.append(segment.duration)
            while list.count > configuration.windowLength,
                list.dropFirst().reduce(0, +) >= Double(3 * configuration.targetDuration)
            {
                list.removeFirst()
            }
        }
        return list.count
    }
}
