import Codecs
public import Media
import NIOCore
public import Stage

/// Makes a program again from a recording of its arrivals, by a virtual clock: as fast as the processor goes, and the
/// same in every run.
///
/// It is the program that the live mixer made wherever that was in time: each decision about a host follows from when
/// its packets came, each change takes effect between the same two steps, and so does each file that scenes name, each
/// name and card that was drawn beside the program, the music that was decoded there, and what the program did without
/// for want of processor time. It ends with the step with which the live one ended, for where everything stands still
/// nothing arrives. Not repeated is what the machine alone was guilty of: a picture that was late, an encoder that was
/// behind.
public struct ArrivalReplay: Sendable {
    private let path: String
    private let head: ArrivalHead
    private let inputs: [Input]
    private let files: [(name: String, bytes: ByteBuffer)]
    private let changes: [(step: Int64, change: ArrivalChange)]
    /// How many the program had made; nil where the recording was cut off.
    private let steps: Int64?
    /// When the last packet came, in nanoseconds since the beginning.
    private let end: Int64
    /// Packets in the recording.
    public let packets: Int

    /// A host's way in, as it came into being.
    private struct Input: Sendable {
        let id: String
        let jitterTarget: Int
        let mayStandStill: Bool
    }

    /// Looks through the recording at `path`.
    ///
    /// - Throws: `ArrivalError` when it cannot be read; one that was cut off can.
    public init(path: String) throws(ArrivalError) {
        var reader = try ArrivalReader(path: path)
        var inputs: [Input] = []
        var files: [(name: String, bytes: ByteBuffer)] = []
        var changes: [(step: Int64, change: ArrivalChange)] = []
        var (end, packets) = (Int64(0), 0)
        var steps: Int64?
        while let entry = try reader.next() {
            switch entry {
            case .input(let id, let target, let mayStandStill):
                inputs.append(Input(id: id, jitterTarget: target, mayStandStill: mayStandStill))
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

    /// The program's settings.
    public var configuration: ProgramConfiguration { head.configuration }

    /// Seconds from the program's beginning to the last packet.
    public var seconds: Double { Double(end) / 1e9 }

    /// Makes the program and hands it to `sink`, encoded as the live one was.
    ///
    /// - Returns: How it went.
    /// - Throws: `CodecError` when the codecs do not take the configuration, `ArrivalError` for a damaged recording.
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

    /// Makes the program without encoding it.
    ///
    /// - Returns: What every pixel and sample of it was, and how it went.
    /// - Throws: As `render`.
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

    /// Lets everything happen to `renderer` in its turn, up to the last step; where that is not known, to the last
    /// arrival and the last change.
    func run(_ renderer: ProgramRenderer) throws(ArrivalError) {
        var course = Course(inputs: inputs, files: files, changes: changes)
        let last = steps ?? .max
        renderer.isTold = true
        var reader = try ArrivalReader(path: path)
        while let entry = try reader.next() {
            guard case .packet(let number, let arrival, let packet) = entry else { continue }
            let moment = MonotonicTime(nanoseconds: arrival)
            renderer.advance(to: moment, until: last) { course.change(renderer, before: $0) }
            course.deliver(packet, from: number, at: moment)
        }
        var moment = MonotonicTime(nanoseconds: end)
        repeat {
            renderer.advance(to: moment, until: last) { course.change(renderer, before: $0) }
            moment = moment.advanced(milliseconds: 20)
        } while renderer.steps < steps ?? course.lastStep
    }

    /// Who is there as the recording goes on.
    private struct Course {
        let inputs: [Input]
        let files: [(name: String, bytes: ByteBuffer)]
        let changes: [(step: Int64, change: ArrivalChange)]
        private var next = 0
        private var present: [Int: HostInput] = [:]
        /// Packets of inputs that do not take part yet.
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

        /// The one that the last change came before.
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
                case .drawn(let pieces): renderer.show(drawn: pieces)
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
                mayStandStill: recorded.mayStandStill
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
