import Codecs
import Media
import NIOCore
import Stage

@testable import Mixer

/// A program driven by tests: packets arrive at scheduled times, and time advances in steps.
final class TestProgram {
    private struct Arrival {
        let time: Double
        let order: Int
        let input: HostInput
        let packet: MediaPacket
    }

    static let size = (width: 320, height: 180)

    let renderer: ProgramRenderer
    let output: RecordingOutput
    let returns = RecordingMixMinusOutput()
    let preview = RecordingPreviewOutput()
    private var arrivals: [Arrival] = []
    private(set) var now = 0.0

    init(frameRate: FrameRate = FrameRate(30), jitterTarget: Int = 300) throws {
        let ring = try CanvasRing(width: Self.size.width, height: Self.size.height)
        output = RecordingOutput(ring: ring)
        renderer = ProgramRenderer(
            configuration: ProgramConfiguration(
                width: Self.size.width,
                height: Self.size.height,
                frameRate: frameRate,
                jitterTarget: jitterTarget
            ),
            ring: ring,
            output: output,
            returns: returns,
            preview: preview
        )
    }

    /// The asset of a program's music.
    static let music = "asset:music"

    /// Makes a program of a slate with the music of `file`.
    convenience init(music file: ByteBuffer) throws {
        try self.init()
        renderer.provide(file, for: Self.music)
        renderer.apply(Self.slate(music: Self.music))
    }

    static func slate(music: String?) -> Scene {
        Scene(slate: Slate(kind: .startingSoon, music: music), audio: AudioScene(isLevelling: false))
    }

    /// Shows `hosts` in a grid, all of them audible, and probes the middle of each tile.
    func show(_ hosts: [String]) {
        let scene = Self.grid(hosts, width: Self.size.width, height: Self.size.height)
        renderer.apply(scene)
        output.probes = scene.tiles.map { Self.middle(of: $0.rectangle) }
    }

    static func grid(_ hosts: [String], width: Int, height: Int) -> Scene {
        let rectangles = GridLayout.rectangles(count: hosts.count, width: width, height: height)
        let tiles = zip(hosts, rectangles).enumerated().map { index, pair in
            Tile(
                position: index,
                participantSID: pair.0,
                source: .camera,
                rectangle: pair.1,
                scaleMode: .fill,
                label: pair.0,
                isMicOn: true
            )
        }
        // Levels are asserted, so normalization is off.
        return Scene(tiles: tiles, audible: Set(hosts), audio: AudioScene(isLevelling: false))
    }

    static func middle(of tile: TileRectangle) -> PixelRectangle {
        PixelRectangle(
            x: tile.x + tile.width / 4,
            y: tile.y + tile.height / 4,
            width: tile.width / 2,
            height: tile.height / 2
        )
    }

    /// Schedules `packets` of `host`.
    ///
    /// - Parameter arrival: The arrival in milliseconds of program time, by timestamp.
    func feed(_ host: String, _ packets: [MediaPacket], arrival: (Int64) -> Double) {
        let input = renderer.addHost(host)
        for packet in packets {
            arrivals.append(
                Arrival(time: arrival(packet.timestamp), order: arrivals.count, input: input, packet: packet)
            )
        }
        arrivals.sort { ($0.time, $0.order) > ($1.time, $1.order) }
    }

    /// Advances time to `end` (milliseconds) in steps of 10 ms.
    func run(to end: Double) {
        while now < end {
            now = min(now + 10, end)
            while let next = arrivals.last, next.time <= now {
                arrivals.removeLast()
                next.input.receive(next.packet, arrival: Self.moment(next.time))
            }
            renderer.advance(to: Self.moment(now))
        }
    }

    func host(_ id: String) -> MixerStatistics.Host {
        renderer.statistics.hosts.first { $0.id == id } ?? MixerStatistics.Host()
    }

    /// Returns the program time in milliseconds at which frame `index` begins.
    func time(of index: Int64) -> Double { Double(index) * 1000 / 30 }

    static func moment(_ milliseconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(milliseconds * 1e6))
    }
}

/// Returns whether two colours are the same within encoding errors.
func isNear(_ one: YUVColour, _ other: YUVColour, within tolerance: Int = 8) -> Bool {
    abs(Int(one.y) - Int(other.y)) <= tolerance && abs(Int(one.u) - Int(other.u)) <= tolerance
        && abs(Int(one.v) - Int(other.v)) <= tolerance
}
