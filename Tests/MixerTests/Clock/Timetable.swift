import Codecs
import Media
import Stage

@testable import Mixer

/// A program by a virtual clock: packets come, and things are done, at exactly the times written down for them.
final class Timetable {
    private enum Event {
        case packet(String, MediaPacket)
        case action(() -> Void)
    }

    static let size = (width: 160, height: 90)

    let renderer: ProgramRenderer
    let watch: SyncWatch
    private let start: Double
    private var inputs: [String: HostInput] = [:]
    private var events: [(time: Double, order: Int, event: Event)] = []

    /// - Parameter firstSample: Where the program's counter begins; times written down count from there all the same.
    init(
        jitterTarget: Int = 300,
        frameRate: FrameRate = FrameRate(30),
        firstSample: Int64 = 0,
        recorder: ArrivalRecorder? = nil
    ) throws {
        let ring = try CanvasRing(width: Self.size.width, height: Self.size.height)
        watch = SyncWatch(ring: ring, frameRate: frameRate.perSecond)
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
            output: watch,
            recorder: recorder
        )
    }

    /// Shows `hosts` in a grid without any decoration, all of them audible as they are.
    func show(_ hosts: [String]) {
        let scene = Self.scene(hosts)
        renderer.apply(scene)
        watch.probes = scene.tiles.map { Rehearsal.middle(of: $0.rectangle) }
    }

    static func scene(_ hosts: [String]) -> Scene {
        var scene = Rehearsal.grid(hosts, width: size.width, height: size.height)
        scene.transition = 0
        scene.decoration.showsNames = false
        scene.decoration.showsMicrophones = false
        scene.sound.isLevelling = false
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

    /// Lets `packets` arrive at `host`, who must have joined by then to get them; nil loses one.
    ///
    /// - Parameter arrival: Milliseconds since the beginning at which the packet of that timestamp comes; what would
    ///   come before the packet before it comes right behind that one, as on any connection.
    func feed(_ host: String, _ packets: [MediaPacket], arrival: (MediaPacket) -> Double?) {
        var last = 0.0
        for packet in packets {
            guard let time = arrival(packet) else { continue }
            last = max(last, time)
            events.append((last, events.count, .packet(host, packet)))
        }
    }

    /// Moves time to `end`, milliseconds since the beginning.
    func run(to end: Double) {
        events.sort { ($0.time, $0.order) < ($1.time, $1.order) }
        let due = events.prefix { $0.time <= end }
        for (time, _, event) in due {
            let moment = Rehearsal.moment(time)
            renderer.advance(to: moment)
            switch event {
            case .packet(let host, let packet): inputs[host]?.receive(packet, arrival: moment)
            case .action(let action): action()
            }
        }
        events.removeFirst(due.count)
        renderer.advance(to: Rehearsal.moment(end))
    }

    func host(_ id: String) -> MixerStatistics.Host {
        renderer.statistics.hosts.first { $0.id == id } ?? MixerStatistics.Host()
    }
}
