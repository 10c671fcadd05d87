import Codecs
import Foundation
import Media
import Mixer
import Stage
import Synchronization

/// Decodes an encoded program and checks it: timestamps, GOP lengths, and every host's flashes and beeps.
final class ProgramCheck: Sendable {
    /// The sampled pixel of a host's tile, and whether its audio is in the mix.
    struct ExpectedTile: Sendable {
        let host: TimetableHost
        let x: Int
        let y: Int
        let isAudible: Bool
    }

    private let state: Mutex<ProgramCheckState>

    init(configuration: ProgramConfiguration, hosts: Int) throws {
        state = Mutex(try ProgramCheckState(configuration: configuration, hosts: hosts))
    }

    /// Sets the expected tiles from `time` on, in milliseconds; nothing is checked while tiles move.
    func show(_ expected: [ExpectedTile], from time: Double) {
        state.withLock { state in
            let names = state.names
            for name in names { state.matchers[name]?.ignore(time - 100..<time + 1000) }
            state.periods.append((time + 1000, expected))
        }
    }

    /// Excludes a time span of a host from the checks.
    func ignore(_ host: String, _ span: Range<Double>) {
        state.withLock { $0.matchers[host]?.ignore(span) }
    }

    /// Decodes and checks the next packet of the program.
    func receive(_ packet: MediaPacket) {
        state.withLock { state in
            do throws(CodecError) {
                try state.receive(packet)
            } catch {
                state.fault("the program cannot be decoded: \(error)")
            }
        }
    }

    /// Returns the largest offset of a flash from its beep, and the range of delays, since the last call.
    func drainWorst() -> (distance: Double, delays: ClosedRange<Double>?) {
        state.withLock { state in
            defer { state.delays = nil }
            return (state.drainWorst(), state.delays)
        }
    }

    /// The numbers of video frames, of audio frames, and of flashes that were compared with beeps.
    var counts: (frames: Int64, audioFrames: Int64, flashes: Int) {
        state.withLock { state in
            (state.frames, state.audioFrames, state.matchers.values.reduce(0) { $0 + $1.compared })
        }
    }

    /// All failed checks.
    var faults: [String] {
        state.withLock { state in state.faults + state.names.flatMap { state.matchers[$0]?.faults ?? [] } }
    }
}

/// The state of a `ProgramCheck`.
struct ProgramCheckState: ~Copyable {
    /// Milliseconds from a host to the program: the network delay, the mean jitter, and the jitter target.
    private static let delay = 330.0
    /// The accepted deviation of a flash from this delay: half a frame, plus the error of the offset estimate.
    private static let delayTolerance = 50.0

    let names: [String]
    var matchers: [String: FlashBeepMatcher] = [:]
    /// The expected tiles, with the time from which they are shown.
    var periods: [(from: Double, expected: [ProgramCheck.ExpectedTile])] = []
    var delays: ClosedRange<Double>?
    private(set) var frames: Int64 = 0
    private(set) var audioFrames: Int64 = 0
    private(set) var faults: [String] = []
    private let configuration: ProgramConfiguration
    private let canvas: Canvas
    private var video: VideoDecoder?
    private var audio: AudioDecoder?
    private var beepDetector: BeepDetector
    private var lastTimestamp = Int64.min
    private var firstAudio: Int64?
    private var wasLight: [String: Bool] = [:]

    init(configuration: ProgramConfiguration, hosts: Int) throws(CodecError) {
        self.configuration = configuration
        names = (0..<hosts).map { "host-\($0)" }
        for name in names { matchers[name] = FlashBeepMatcher(name: name) }
        canvas = try Canvas(width: configuration.width, height: configuration.height)
        beepDetector = BeepDetector(frequencies: Array(1...hosts), amplitude: FlashClip.amplitude)
    }

    mutating func fault(_ text: String) {
        if faults.count < 10 { faults.append(text) }
    }

    /// Returns the largest offset of a flash from its beep since the last call.
    mutating func drainWorst() -> Double {
        var worst = 0.0
        for name in names { worst = max(worst, matchers[name]?.drainWorst() ?? 0) }
        return worst
    }

    mutating func receive(_ packet: MediaPacket) throws(CodecError) {
        if packet.timestamp < lastTimestamp { fault("the timestamp decreased at \(packet.timestamp) ms") }
        lastTimestamp = packet.timestamp
        switch (packet.isVideo, packet.isConfiguration) {
        case (true, true): video = try VideoDecoder(configuration: packet)
        case (false, true): audio = try AudioDecoder(codec: .aac, configuration: packet)
        case (true, false): try checkFrame(packet)
        case (false, false): try checkAudio(packet)
        }
    }

    /// Checks that frames follow each other at exact times, and that every GOP has the same length.
    private mutating func checkFrame(_ packet: MediaPacket) throws(CodecError) {
        let rate = configuration.frameRate
        let exact = frames * 1000 * Int64(rate.denominator) / Int64(rate.numerator)
        if packet.timestamp != exact { fault("frame \(frames) is at \(packet.timestamp) ms, not at \(exact)") }
        let isFirst = frames % Int64(configuration.gopLength) == 0
        if packet.isKeyframe != isFirst { fault("a GOP has the wrong length at \(packet.timestamp) ms") }
        frames += 1
        var shown: [VideoFrame] = []
        try video?.decode(packet) { shown.append($0) }
        for frame in shown {
            try canvas.draw(frame, in: canvas.bounds)
            checkTiles(at: Double(frame.presentationTimestamp))
        }
    }

    /// Checks that audio frames of 1024 samples follow each other; their times are rounded without accumulated error.
    private mutating func checkAudio(_ packet: MediaPacket) throws(CodecError) {
        let first = firstAudio ?? packet.timestamp
        firstAudio = first
        let exact = Double(first) + Double(audioFrames) * 1024 / 48
        if abs(Double(packet.timestamp) - exact) > 1.01 {
            fault("audio frame \(audioFrames) is at \(packet.timestamp) ms, not at \(exact)")
        }
        audioFrames += 1
        var blocks: [AudioBlock] = []
        try audio?.decode(packet) { blocks.append($0) }
        for block in blocks {
            var found: [(Int, Double)] = []
            block.withChannels { left, _ in beepDetector.receive(left, at: block.timestamp) { found.append(($0, $1)) } }
            for (number, time) in found { matchers[names[number]]?.beep(at: time) }
        }
    }

    private mutating func checkTiles(at time: Double) {
        while periods.count > 1, periods[1].from <= time {
            periods.removeFirst()
            wasLight = [:]
        }
        let expected = periods.first.map { $0.from <= time ? $0.expected : [] } ?? []
        for tile in expected {
            let name = tile.host.name
            let luma = canvas.luma(x: tile.x, y: tile.y)
            if luma > 150, wasLight[name] == false {
                matchers[name]?.flash(at: time, isAudible: tile.isAudible)
                checkDelay(of: tile.host, time)
            }
            if luma > 150 || luma < 100 { wasLight[name] = luma > 150 }
        }
        for name in names {
            let isShown = expected.contains { $0.host.name == name }
            if !isShown { wasLight[name] = nil }
            matchers[name]?.update(at: time, isShown: isShown)
        }
    }

    /// Checks that a host's delay stays constant, whatever its clock drift.
    private mutating func checkDelay(of host: TimetableHost, _ time: Double) {
        guard matchers[host.name]?.isIgnored(time) == false else { return }
        let distance = host.distance(of: time, delay: Self.delay)
        delays = delays.map { min($0.lowerBound, distance)...max($0.upperBound, distance) } ?? distance...distance
        if abs(distance) > Self.delayTolerance {
            fault("\(host.name) is \(distance.text(0)) ms from its expected time at \((time / 1000).text(2)) s")
        }
    }
}

/// Detects the beginnings of beeps of whole kilohertz in a program, each frequency separately, to half a millisecond.
///
/// A millisecond holds a whole number of periods of each, so that their correlations are independent; the window is
/// five milliseconds.
struct BeepDetector: Sendable {
    private static let length = 48
    private static let window = 5
    /// Milliseconds of silence after which a beep counts as a new one.
    private static let pause = 200

    private struct ToneFilter: Sendable {
        let cosine: [Float]
        let sine: [Float]
        var parts: [(cosine: Float, sine: Float)] = Array(repeating: (0, 0), count: BeepDetector.window)
        var quiet = BeepDetector.pause

        init(_ frequency: Int) {
            let angles = (0..<BeepDetector.length).map { 2 * Double.pi * Double(frequency * $0) / 48 }
            cosine = angles.map { Float(cos($0)) }
            sine = angles.map { Float(sin($0)) }
        }
    }

    private let threshold: Float
    private var filters: [ToneFilter]
    private var rest: [Float] = []
    /// Milliseconds analyzed, and the time of the first sample.
    private var analyzed: Int64 = 0
    private var begin: Double?

    /// - Parameter amplitude: The amplitude of the beeps relative to full scale; half of it is the threshold.
    init(frequencies: [Int], amplitude: Float) {
        filters = frequencies.map(ToneFilter.init)
        threshold = amplitude / 2
    }

    /// Analyzes the next samples.
    ///
    /// - Parameters:
    ///   - time: The time of the first of them, in milliseconds.
    ///   - found: Called with the index of the frequency and the time of each beep.
    mutating func receive(_ samples: UnsafeBufferPointer<Float>, at time: Double, found: (Int, Double) -> Void) {
        if begin == nil { begin = time }
        rest.append(contentsOf: samples)
        var from = 0
        while rest.count - from >= Self.length {
            analyze(from, found)
            from += Self.length
        }
        rest.removeFirst(from)
    }

    private mutating func analyze(_ from: Int, _ found: (Int, Double) -> Void) {
        let slot = Int(analyzed % Int64(Self.window))
        analyzed += 1
        for number in filters.indices {
            var (cosine, sine) = (Float(0), Float(0))
            for index in 0..<Self.length {
                cosine += rest[from + index] * filters[number].cosine[index]
                sine += rest[from + index] * filters[number].sine[index]
            }
            filters[number].parts[slot] = (cosine, sine)
            (cosine, sine) = filters[number].parts.reduce((0, 0)) { ($0.0 + $1.cosine, $0.1 + $1.sine) }
            let amplitude = 2 * (cosine * cosine + sine * sine).squareRoot() / Float(Self.length * Self.window)
            if amplitude < threshold / 2 {
                filters[number].quiet += 1
            } else if amplitude >= threshold {
                // Half of the window was filled, to within half a millisecond.
                let began = (begin ?? 0) + Double(analyzed) - Double(Self.window) / 2 - 0.5
                if filters[number].quiet >= Self.pause { found(number, began) }
                filters[number].quiet = 0
            }
        }
    }
}
