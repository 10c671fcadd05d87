public import Codecs
public import Media
public import Stage

/// Makes a program again from a recording of its arrivals, by a virtual clock: as fast as the processor goes, and the
/// same in every run.
///
/// It is the program that the live mixer made wherever that was in time: each decision about a host follows from when
/// its packets came, each change takes effect between the same two steps, and so does each name and card that was drawn
/// beside it. Not repeated are what the machine alone was guilty of (a picture that was late, an encoder that was
/// behind) and the files that scenes name.
public struct ArrivalReplay: Sendable {
    private let path: String
    private let head: ArrivalHead
    private let inputs: [(id: String, jitterTarget: Int)]
    private let changes: [(step: Int64, change: ArrivalChange)]
    /// When the last packet came, in nanoseconds since the beginning.
    private let end: Int64
    /// Packets in the recording.
    public let packets: Int

    /// Looks through the recording at `path`.
    ///
    /// - Throws: `ArrivalError` when it cannot be read; one that was cut off can.
    public init(path: String) throws(ArrivalError) {
        var reader = try ArrivalReader(path: path)
        var inputs: [(id: String, jitterTarget: Int)] = []
        var changes: [(step: Int64, change: ArrivalChange)] = []
        var (end, packets) = (Int64(0), 0)
        while let entry = try reader.next() {
            switch entry {
            case .input(let id, let target): inputs.append((id, target))
            case .change(let step, let change): changes.append((step, change))
            case .packet(_, let arrival, _):
                end = max(end, arrival)
                packets += 1
            case .end: break
            }
        }
        self.path = path
        head = reader.head
        self.inputs = inputs
        self.changes = changes
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
        encoderOptions: String = VideoEncoderConfiguration.usualOptions,
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

    /// Lets everything happen to `renderer` in its turn, up to the last arrival and the last change.
    func run(_ renderer: ProgramRenderer) throws(ArrivalError) {
        var course = Course(inputs: inputs, changes: changes)
        renderer.waitsForDrawn = true
        var reader = try ArrivalReader(path: path)
        while let entry = try reader.next() {
            guard case .packet(let number, let arrival, let packet) = entry else { continue }
            let moment = MonotonicTime(nanoseconds: arrival)
            renderer.advance(to: moment) { course.change(renderer, before: $0) }
            course.deliver(packet, from: number, at: moment)
        }
        var moment = MonotonicTime(nanoseconds: end)
        repeat {
            renderer.advance(to: moment) { course.change(renderer, before: $0) }
            moment = moment.advanced(milliseconds: 20)
        } while !course.isOver
    }

    /// Who is there as the recording goes on.
    private struct Course {
        let inputs: [(id: String, jitterTarget: Int)]
        let changes: [(step: Int64, change: ArrivalChange)]
        private var next = 0
        private var present: [Int: HostInput] = [:]
        /// Packets of inputs that do not take part yet.
        private var early: [Int: [(packet: MediaPacket, arrival: MonotonicTime)]] = [:]

        init(inputs: [(id: String, jitterTarget: Int)], changes: [(step: Int64, change: ArrivalChange)]) {
            self.inputs = inputs
            self.changes = changes
        }

        var isOver: Bool { next == changes.count }

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
                case .jitterTarget(let id, let target): renderer.setJitterTarget(target, for: id)
                case .drawn(let overlays): renderer.show(drawn: overlays)
                }
                next += 1
            }
        }

        private mutating func add(_ number: Int, to renderer: ProgramRenderer) {
            guard inputs.indices.contains(number), present[number] == nil else { return }
            let input = renderer.addHost(inputs[number].id, jitterTarget: inputs[number].jitterTarget)
            present[number] = input
            for (packet, arrival) in early.removeValue(forKey: number) ?? [] {
                input.receive(packet, arrival: arrival)
            }
        }
    }
}
