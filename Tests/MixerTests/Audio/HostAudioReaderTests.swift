import Codecs
import TestSupport
import Testing

@testable import Mixer

/// A host that sends a sine in blocks of 1024 samples into a buffer that is read at program time.
private struct Player: ~Copyable {
    static let amplitude = 0.5
    static let frequency = 440.0

    var track = HostAudioBuffer()
    var reader: HostAudioReader
    private let quantum = StereoBuffer(capacity: ProgramTime.quantum)
    private var written = 0
    private(set) var output: [Float] = []

    init() throws {
        reader = try HostAudioReader()
    }

    /// Appends blocks that begin before host time `end` (milliseconds); time advances without them when `isLost`.
    mutating func feed(until end: Double, isLost: Bool = false) {
        while Double(written) / 48 < end {
            let block = (written..<written + 1024).map {
                Float(Self.amplitude * TestTone.sine(of: Self.frequency, at: $0))
            }
            if !isLost {
                track.append(block, block, count: 1024, timestamp: (Double(written) / 48).rounded(.down))
            }
            written += 1024
        }
    }

    /// Reads the quantum at the present end of the output.
    mutating func read(offset: Double, rate: Double = 0) throws {
        let time = Double(output.count) / 48
        try reader.read(
            from: &track,
            offset: offset,
            rate: rate,
            time: time,
            left: quantum.left,
            right: quantum.right
        )
        output.append(contentsOf: UnsafeBufferPointer(start: quantum.left, count: ProgramTime.quantum))
    }

    var time: Double { Double(output.count) / 48 }
}

@Suite("Host audio reader", .enabled(if: TestRun.isFull)) struct HostAudioReaderTests {
    private static let usualStep = TestTone.step(of: Player.frequency, amplitude: Player.amplitude)
    /// A fade adds at most its slope times the amplitude to a step.
    private static let fadedStep = usualStep + Float(Player.amplitude) / Float(HostAudioBuffer.fade)

    @Test("clock drift is stretched without a click, and playback stays in place", arguments: [200e-6, -200e-6])
    func drift(drift: Double) throws {
        var player = try Player()
        var worst = 0.0
        for _ in 0..<3000 {
            // The offset of a host with a fast clock falls.
            let offset = 100 - player.time * drift
            player.feed(until: player.time - offset + 120)
            try player.read(offset: offset, rate: -drift)
            if player.time > 2000, let error = player.reader.error { worst = max(worst, abs(error)) }
        }
        #expect(worst < 1)
        #expect(player.reader.gaps == 0 && player.reader.skips == 0)
        let recorded = player.output[48_000...]
        #expect(TestTone.largestStep(in: recorded) < Self.usualStep * 1.02)
        #expect(abs(TestTone.level(of: Player.frequency, in: recorded.suffix(9600)) - Player.amplitude) < 0.01)
    }

    @Test("audio begins at its time")
    func begin() throws {
        var player = try Player()
        for _ in 0..<50 {
            player.feed(until: player.time - 237.5 + 120)
            try player.read(offset: 237.5)
        }
        let first = try #require(player.output.firstIndex { abs($0) > 0.002 })
        #expect(abs(first - 11_400) < 48)
        #expect(abs(player.reader.error ?? 99) < 0.6)
    }

    @Test("audio that runs dry fades out, and fades in again at its time", arguments: [200.0, 500, 2000, 12_000])
    func stall(length: Double) throws {
        var player = try Player()
        while player.time < length + 4000 {
            let host = player.time - 100 + 120
            let isStalled = host > 1000 && host < 1000 + length
            if !isStalled { player.feed(until: host) }
            try player.read(offset: 100)
        }
        #expect(player.reader.gaps == 1)
        #expect(TestTone.largestStep(in: player.output[...]) < Self.fadedStep * 1.05)
        #expect(abs(player.reader.error ?? 99) < 2)
        let end = player.output.suffix(24_000)
        #expect(abs(TestTone.level(of: Player.frequency, in: end) - Player.amplitude) < 0.02)
    }

    @Test("lost blocks leave a faded gap of their own length")
    func lost() throws {
        var player = try Player()
        while player.time < 4000 {
            let host = player.time - 100 + 120
            player.feed(until: host, isLost: host > 1000 && host < 1300)
            try player.read(offset: 100)
        }
        #expect(TestTone.largestStep(in: player.output[...]) < Self.fadedStep * 1.05)
        #expect(abs(player.reader.error ?? 99) < 2)
    }

    @Test("a step of the offset is crossed without a click", arguments: [-300.0, -90, 90, 300])
    func step(by step: Double) throws {
        var player = try Player()
        while player.time < 5000 {
            let offset = player.time < 2000 ? 400 : 400 + step
            player.feed(until: player.time - offset + 200)
            try player.read(offset: offset)
        }
        #expect(player.reader.skips >= 1)
        // A cross-fade may have both slopes at once.
        #expect(TestTone.largestStep(in: player.output[...]) < Self.fadedStep * 1.05 + Self.fadedStep - Self.usualStep)
        #expect(abs(player.reader.error ?? 99) < 2)
    }
}
