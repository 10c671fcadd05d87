import HLS
import Media
import NIOCore
import Testing

@Suite("Whatever the feed does, what comes out is in order")
struct SegmenterNoiseTests {
    /// The same noise in every run (SplitMix64).
    private struct Noise: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    /// A feed that mostly behaves: clocks jump, configurations change, encoders restart, packets are damaged.
    private func packet(at clock: inout Int64, _ noise: inout Noise) -> MediaPacket {
        switch Int.random(in: 0..<200, using: &noise) {
        case 0: clock = Int64.random(in: 0...(1 << 50), using: &noise)
        case 1: clock = .random(in: .min ... .max, using: &noise)
        case 2: clock = Int64.random(in: 0...5000, using: &noise)
        case 3...8: clock = clock.addingReportingOverflow(Int64.random(in: -3000...5000, using: &noise)).partialValue
        default: clock = clock.addingReportingOverflow(Int64.random(in: 0...40, using: &noise)).partialValue
        }
        switch Int.random(in: 0..<100, using: &noise) {
        case 0: return SyntheticProgram.videoConfiguration
        case 1: return SyntheticProgram.audioConfiguration
        case 2: return .aacConfiguration(ByteBuffer(bytes: [0x12, 0x10]), timestamp: clock)
        case 3:
            let bytes = (0..<8).map { _ in UInt8.random(in: 0...3, using: &noise) }
            return .h264Picture(isKey: true, isDisposable: false, timestamp: clock, capacity: 8) {
                $0.writeBytes(bytes)
            }
        case 4...50: return SyntheticProgram.sound(clock)
        default:
            return SyntheticProgram.picture(clock, isKey: Int.random(in: 0..<20, using: &noise) == 0)
        }
    }

    @Test("twenty wild feeds", arguments: 0..<20)
    func wild(seed: UInt64) throws {
        var noise = Noise(state: seed)
        let configuration = HLSConfiguration(windowLength: 4, graceLength: 2)
        var broadcast = Broadcast(configuration)
        var clock: Int64 = 0
        if seed % 3 != 0 { broadcast.feed([SyntheticProgram.videoConfiguration]) }
        broadcast.feed([SyntheticProgram.audioConfiguration])
        for round in 0..<4000 {
            broadcast.feed([packet(at: &clock, &noise)])
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
        let kept = broadcast.segments.suffix(listed + 2).reduce(0) { $0 + $1.byteCount }
        #expect(broadcast.playlist.storedBytes == kept)
        let leaving = broadcast.segments.dropLast(listed).filter(\.isDiscontinuity).count
        #expect(broadcast.playlist.discontinuitySequence == leaving)
        #expect(broadcast.playlist.mediaSequence == broadcast.segments.count - listed)
    }

    /// How many segments are listed at the end: the window, or more while they are less than three target durations.
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
