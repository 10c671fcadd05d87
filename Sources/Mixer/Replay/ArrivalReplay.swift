import Codecs
public import Media
import NIOCore
public import Stage

/// Renders a program again from a recording of its arrivals, on a virtual clock: as fast as the processor allows, and
/// identical in every run.
///
/// The result equals the live program as far as that was in time: each decision about a host follows from the arrival
/// times, and each change takes effect between the same two steps: scenes, provided files, overlays rendered on their
/// thread, decoded music, and degradation. It ends with the step with which the live program ended. Not repeated are
/// effects of the machine alone: a late frame, an encoder that was behind.
public struct ArrivalReplay: Sendable {
    private let path: String
    private let head: ArrivalHeader
    private let inputs: [Input]
    private let files: [(name: String, bytes: ByteBuffer)]
    private let changes: [(step: Int64, change: ArrivalChange)]
    /// The live program's step count; nil where the recording was truncated.
    private let steps: Int64?
    /// The arrival of the last packet, in nanoseconds since the beginning.
    private let end: Int64
    /// The number of packets in the recording.
    public let packets: Int

    /// A recorded host input.
    private struct Input: Sendable {
        let id: String
        let jitterTarget: Int
        let isScreenShare: Bool
    }

    /// Reads the recording at `path` once.
    ///
    /// - Throws: `ArrivalError` when it cannot be read; a truncated one can.
    public init(path: String) throws(ArrivalError) {
        var reader = try ArrivalReader(path: path)
        var inputs: [Input] = []
        var files: [(name: String, bytes: ByteBuffer)] = []
        var changes: [(step: Int64, change: ArrivalChange)] = []
        var (end, packets) = (Int64(0), 0)
        var steps: Int64?
        while let entry = try reader.next() {
            switch entry {
            case .input(let id, let target, let isScreenShare):
                inputs.append(Input(id: id, jitterTarget: target, isScreenShare: isScreenShare))
            case .file(let name, let bytes): files.append((name, bytes))
            case .change(let step, let change): changes.append((step, change))
            case .packet(_, let arrival, _):
                end = max(end, arrival)
                packets += 1
            case .end(let made): steps = made
            }
        }
        self.path = path
        head = reader.head
        self.inputs = inputs
        self.files = files
        self.changes = changes
        self.steps = steps
        self.end = end
        self.packets = packets
    }

    /// The program's configuration.
    public var configuration: ProgramConfiguration { head.configuration }

    /// Seconds from the program's beginning to the last packet.
    public var seconds: Double { Double(end) / 1e9 }

    /// Renders the program and sends it to `sink`, encoded like the live one.
    ///
    /// - Returns: The statistics.
    /// - Throws: `CodecError` when the codecs reject the configuration, `ArrivalError` for a damaged recording.
    @discardableResult
    public func render(
        encoderOptions: String? = nil,
        sink: @escaping @Sendable (MediaPacket) -> Void
    ) throws -> MixerStatistics {
        let renderer = try ProgramRenderer(
            configuration: head.configuration,
            firstSample: head.firstSample,
            encoderOptions: encoderOptions,
            sink: sink
        )
        try run(renderer)
        return renderer.statistics
    }

    /// Renders the program without encoding it.
    ///
    /// - Returns: A fingerprint of all pixels and samples, and the statistics.
    /// - Throws: The errors of `render`.
    public func fingerprint() throws -> (ProgramFingerprint, MixerStatistics) {
        let ring = try CanvasRing(width: head.configuration.width, height: head.configuration.height)
        let output = FingerprintOutput(ring: ring)
        let renderer = ProgramRenderer(
            configuration: head.configuration,
            firstSample: head.firstSample,
            ring: ring,
            output: output
        )
        try run(renderer)
        return (output.fingerprint, renderer.statistics)
    }

    /// Replays everything on `renderer`, up to the last step; where that is unknown, up to the last arrival and the
    /// last change.
    func run(_ renderer: ProgramRenderer) throws(ArrivalError) {
        var playback = Playback(inputs: inputs, files: files, changes: changes)
        let last = steps ?? .max
        renderer.isReplaying = true
        var reader = try ArrivalReader(path: path)
        while let entry = try reader.next() {
            guard case .packet(let number, let arrival, let packet) = entry else { continue }
            let moment = MonotonicTime(nanoseconds: arrival)
            renderer.advance(to: moment, until: last) { playback.change(renderer, before: $0) }
            playback.deliver(packet, from: number, at: moment)
        }
        var moment = MonotonicTime(nanoseconds: end)
        repeat {
            renderer.advance(to: moment, until: last) { playback.change(renderer, before: $0) }
            moment = moment.advanced(milliseconds: 20)
        } while renderer.steps < steps ?? playback.lastStep
    }

    /// The state of a replay: the inputs added so far and the changes still to come.
    private struct Playback {
        let inputs: [Input]
        let files: [(name: String, bytes: ByteBuffer)]
        let changes: [(step: Int64, change: ArrivalChange)]
        private var next = 0
        private var present: [Int: HostInput] = [:]
        /// Packets of inputs that are not added yet.
        private var early: [Int: [(packet: MediaPacket, arrival: MonotonicTime)]] = [:]

        init(
            inputs: [Input],
            files: [(name: String, bytes: ByteBuffer)],
            changes: [(step: Int64, change: ArrivalChange)]
        ) {
            self.inputs = inputs
            self.files = files
            self.changes = changes
        }

        /// The step after the last change.
        var lastStep: Int64 { changes.last.map { $0.step + 1 } ?? 0 }

        mutating func deliver(_ packet: MediaPacket, from number: Int, at arrival: MonotonicTime) {
            if let input = present[number] {
                input.receive(packet, arrival: arrival)
            } else {
                early[number, default: []].append((packet, arrival))
            }
        }

        mutating func change(_ renderer: ProgramRenderer, before step: Int64) {
            while next < changes.count, changes[next].step <= step {
                switch changes[next].change {
                case .add(let number): add(number, to: renderer)
                case .remove(let id): renderer.removeHost(id)
                case .scene(let scene): renderer.apply(scene)
                case .degrade(let step): renderer.degrade(to: step)
                case .jitterTarget(let id, let target): renderer.setJitterTarget(target, for: id)
                case .provide(let number): provide(number, to: renderer)
                case .drawn(let keys): renderer.show(drawn: keys)
                case .caughtUp(let id): renderer.catchUp(id)
                case .music(let isReady): renderer.setMusic(ready: isReady)
                }
                next += 1
            }
        }

        private mutating func add(_ number: Int, to renderer: ProgramRenderer) {
            guard inputs.indices.contains(number), present[number] == nil else { return }
            let recorded = inputs[number]
            let input = renderer.addHost(
                recorded.id,
                jitterTarget: recorded.jitterTarget,
                isScreenShare: recorded.isScreenShare
            )
            present[number] = input
            for (packet, arrival) in early.removeValue(forKey: number) ?? [] {
                input.receive(packet, arrival: arrival)
            }
        }

        private func provide(_ number: Int, to renderer: ProgramRenderer) {
            guard files.indices.contains(number) else { return }
            renderer.provide(files[number].bytes, for: files[number].name)
        }
    }
}

/// A hash of every pixel and sample of a program, for comparison.
public struct ProgramFingerprint: Sendable, Equatable {
    /// The hash of the canvases of all frames and their indices.
    public internal(set) var video: UInt64 = 0
    /// The hash of all samples of both channels and their positions.
    public internal(set) var audio: UInt64 = 0
    /// The number of frames.
    public internal(set) var frames: Int64 = 0
    /// The number of samples per channel.
    public internal(set) var samples: Int64 = 0
}

/// Computes the fingerprint of a program's raw frames and audio.
final class FingerprintOutput: ProgramOutput {
    private let ring: CanvasRing
    private(set) var fingerprint = ProgramFingerprint()
    private var nextSample: Int64?

    init(ring: CanvasRing) {
        self.ring = ring
    }

    var pendingFrames: Int { 0 }

    func writeFrame(canvas: Int, index: Int64) {
        let video = Self.mix(fingerprint.video, UInt64(bitPattern: index))
        fingerprint.video = Self.mix(video, ring.canvases[canvas].fingerprint)
        fingerprint.frames += 1
        ring.release(canvas)
    }

    func writeAudio(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        var value = fingerprint.audio
        // The division of the audio into calls does not matter; a discontinuity does.
        if firstSample != nextSample { value = Self.mix(value, UInt64(bitPattern: firstSample)) }
        for index in 0..<count {
            value = Self.mix(value, UInt64(left[index].bitPattern) << 32 | UInt64(right[index].bitPattern))
        }
        nextSample = firstSample + Int64(count)
        fingerprint.audio = value
        fingerprint.samples += Int64(count)
    }

    private static func mix(_ value: UInt64, _ word: UInt64) -> UInt64 {
        let product = (value ^ word ^ 0xCBF2_9CE4_8422_2325) &* 0x0000_0100_0000_01B3
        return product << 23 | product >> 41
    }
}
