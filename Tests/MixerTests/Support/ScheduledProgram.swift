import Codecs
import Media
import Stage

@testable import Mixer

/// A program on a virtual clock: packets arrive and actions happen at exactly their scheduled times.
final class ScheduledProgram {
    private enum Event {
        case packet(String, MediaPacket)
        case action(() -> Void)
    }

    static let size = (width: 160, height: 90)

    let renderer: ProgramRenderer
    let monitor: SyncMonitor
    private let start: Double
    private var inputs: [String: HostInput] = [:]
    private var events: [(time: Double, order: Int, event: Event)] = []

    /// - Parameter firstSample: The first value of the program's counter; scheduled times count from there.
    init(
        jitterTarget: Int = 300,
        frameRate: FrameRate = FrameRate(30),
        firstSample: Int64 = 0,
        recorder: ArrivalRecorder? = nil
    ) throws {
        let ring = try CanvasRing(width: Self.size.width, height: Self.size.height)
        monitor = SyncMonitor(ring: ring, frameRate: frameRate.perSecond)
        start = Double(firstSample) / 48
        renderer = ProgramRenderer(
            configuration: ProgramConfiguration(
                width: Self.size.width,
                height: Self.size.height,
                frameRate: frameRate,
                jitterTarget: jitterTarget
            ),
            firstSample: firstSample,
            ring: ring,
            output: monitor,
            recorder: recorder
        )
    }

    /// Shows `hosts` in a grid without decoration, all of them audible at 0 dB.
    func show(_ hosts: [String]) {
        let scene = Self.scene(hosts)
        renderer.apply(scene)
        monitor.probes = scene.tiles.map { TestProgram.middle(of: $0.rectangle) }
    }

    static func scene(_ hosts: [String]) -> Scene {
        var scene = TestProgram.grid(hosts, width: size.width, height: size.height)
        scene.transition = 0
        scene.decoration.showsNames = false
        scene.decoration.showsMicrophones = false
        scene.audio.isLevelling = false
        return scene
    }

    func join(_ host: String, jitterTarget: Int? = nil) {
        inputs[host] = renderer.addHost(host, jitterTarget: jitterTarget)
    }

    func leave(_ host: String) {
        inputs[host] = nil
        renderer.removeHost(host)
    }

    func at(_ time: Double, _ action: @escaping () -> Void) {
        events.append((time, events.count, .action(action)))
    }

    /// Schedules `packets` of `host`, which must have joined by then; nil loses a packet.
    ///
    /// - Parameter arrival: The arrival of a packet in milliseconds since the beginning; one that would overtake the
    ///   packet before it arrives right behind it, as on any connection.
    func feed(_ host: String, _ packets: [MediaPacket], arrival: (MediaPacket) -> Double?) {
        var last = 0.0
        for packet in packets {
            guard let time = arrival(packet) else { continue }
            last = max(last, time)
            events.append((last, events.count, .packet(host, packet)))
        }
    }

    /// Advances time to `end`, milliseconds since the beginning.
    func run(to end: Double) {
        events.sort { ($0.time, $0.order) < ($1.time, $1.order) }
        let due = events.prefix { $0.time <= end }
        for (time, _, event) in due {
            let moment = TestProgram.moment(time)
            renderer.advance(to: moment)
            switch event {
            case .packet(let host, let packet): inputs[host]?.receive(packet, arrival: moment)
            case .action(let action): action()
            }
        }
        events.removeFirst(due.count)
        renderer.advance(to: TestProgram.moment(end))
    }

    func host(_ id: String) -> MixerStatistics.Host {
        renderer.statistics.hosts.first { $0.id == id } ?? MixerStatistics.Host()
    }
}

/// Detects flashes in tiles and beeps in either channel, and stores nothing else, since a program may be hours long.
final class SyncMonitor: ProgramOutput {
    /// The number of samples below `loud` after which a channel counts as quiet.
    private static let pause = 9600
    private static let loud: Float = 0.1

    private let ring: CanvasRing
    private let frameLength: Double
    /// The areas measured in each frame.
    var probes: [PixelRectangle] = []
    /// The times of changes from black to white by probe, in milliseconds of program time.
    private(set) var flashes: [Int: [Double]] = [:]
    /// The times at which a quiet channel became loud, by channel.
    private(set) var beeps: [[Double]] = [[], []]
    private(set) var lumas: [Int: UInt8] = [:]
    private(set) var frames: Int64 = 0
    /// Whether frames and samples were consecutive.
    private(set) var isContinuous = true
    private var lastFrame: Int64?
    private var nextSample: Int64?
    private var quiet = [pause, pause]

    init(ring: CanvasRing, frameRate: Double) {
        self.ring = ring
        frameLength = 1000 / frameRate
    }

    var pendingFrames: Int { 0 }

    func writeFrame(canvas: Int, index: Int64) {
        if let lastFrame, index != lastFrame + 1 { isContinuous = false }
        lastFrame = index
        frames += 1
        for (probeIndex, probe) in probes.enumerated() {
            let luma = ring.canvases[canvas].averageColour(of: probe).y
            if luma > 150, let last = lumas[probeIndex], last < 100 {
                flashes[probeIndex, default: []].append(Double(index) * frameLength)
            }
            lumas[probeIndex] = luma
        }
        ring.release(canvas)
    }

    func writeAudio(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        if let nextSample, nextSample != firstSample { isContinuous = false }
        nextSample = firstSample + Int64(count)
        for (channel, samples) in [left, right].enumerated() {
            var quiet = quiet[channel]
            for index in 0..<count {
                guard abs(samples[index]) > Self.loud else {
                    quiet += 1
                    continue
                }
                if quiet >= Self.pause { beeps[channel].append(Double(firstSample + Int64(index)) / 48) }
                quiet = 0
            }
            self.quiet[channel] = quiet
        }
    }

    /// Returns for each flash of `probe` between the two times its delay relative to the nearest beep.
    func offsets(_ probe: Int = 0, channel: Int = 0, from start: Double, to end: Double) -> [Double] {
        var beeps = beeps[channel][...]
        return (flashes[probe] ?? []).filter { (start..<end).contains($0) }.map { flash in
            while let first = beeps.first, let second = beeps.dropFirst().first {
                guard abs(second - flash) <= abs(first - flash) else { break }
                beeps = beeps.dropFirst()
            }
            return beeps.first.map { flash - $0 } ?? .infinity
        }
    }
}
