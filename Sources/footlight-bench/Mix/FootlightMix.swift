import Media
import Mixer
import Stage
import TestSupport

/// Makes one program by Footlight's mixer, on a virtual clock, as fast as possible on one core.
struct FootlightMix {
    let clips: [Clip]
    let program: ProgramConfiguration
    /// Further x264 parameters; empty for the preset's own.
    let encoderOptions: String
    /// Whether names and microphone icons are drawn over the tiles.
    var hasTags = true
    /// Receives the program.
    var sink: @Sendable (MediaPacket) -> Void = { _ in }

    /// Milliseconds from a host's clock to the arrival of its packets.
    private static let transit: Int64 = 30
    /// Milliseconds of program with additional startup cost.
    private static let beginning: Int64 = 2000

    func run() throws -> MixFigures {
        let before = ProcessorTime.own
        let renderer = try ProgramRenderer(
            configuration: program,
            encoderOptions: encoderOptions,
            sink: sink
        )
        let names = clips.indices.map { "host-\($0)" }
        var scene = Scene.grid(of: names, on: program)
        if !hasTags { scene.decoration = Decoration(showsNames: false, showsMicrophones: false) }
        renderer.apply(scene)
        var arrivals: [(input: HostInput, packet: MediaPacket)] = []
        for (name, clip) in zip(names, clips) {
            let input = renderer.addHost(name)
            arrivals += try clip.packets.map { (input, $0) }
        }
        arrivals.sort { $0.packet.timestamp < $1.packet.timestamp }
        var beginning: MixFigures?
        for (input, packet) in arrivals {
            if beginning == nil, packet.timestamp >= Self.beginning {
                beginning = Self.figures(renderer.statistics, used: ProcessorTime.own - before)
            }
            let moment = MonotonicTime(nanoseconds: 0).advanced(milliseconds: packet.timestamp + Self.transit)
            renderer.advance(to: moment)
            input.receive(packet, arrival: moment)
        }
        // Every decoded frame is shown.
        let end = Int64(clips.map(\.seconds).max() ?? 0) * 1000 + Int64(program.jitterTarget)
        renderer.advance(to: MonotonicTime(nanoseconds: 0).advanced(milliseconds: end))
        let statistics = renderer.statistics
        try check(statistics)
        let whole = Self.figures(statistics, used: ProcessorTime.own - before)
        var result = whole.perSecond(Double(clips.map(\.seconds).max() ?? 1))
        result.laterShareOutsideCodecs = whole.since(beginning ?? MixFigures()).shareOutsideCodecs
        return result
    }

    /// Checks that no frames or audio are missing, which would make the run invalid.
    private func check(_ statistics: MixerStatistics) throws {
        let errors = statistics.encodeErrors + statistics.hosts.reduce(0) { $0 + $1.decodeErrors }
        let expected = Int64(clips.map(\.seconds).min() ?? 0) * 30
        guard errors == 0, statistics.skippedFrames == 0, statistics.hosts.allSatisfy({ $0.frames >= expected - 3 })
        else { throw ToolFailure("the mix is incomplete: \(statistics)") }
    }

    /// Returns the processor time so far.
    private static func figures(_ statistics: MixerStatistics, used: Double) -> MixFigures {
        let processor = statistics.processor
        return MixFigures(
            decode: processor.decode,
            compose: processor.compose,
            encode: processor.encode,
            audio: processor.audio,
            audioDecoding: statistics.hosts.reduce(0) { $0 + $1.audioSeconds },
            audioEncoding: statistics.audioEncodeSeconds,
            rest: max(used - (processor.total - processor.rest), 0)
        )
    }
}

extension Scene {
    /// Returns a grid of the hosts with these names, all audible.
    static func grid(of names: [String], on program: ProgramConfiguration) -> Scene {
        let rectangles = GridLayout.rectangles(count: names.count, width: program.width, height: program.height)
        let tiles = zip(names, rectangles).enumerated().map { position, tile in
            Tile(
                position: position,
                participantSID: tile.0,
                source: .camera,
                rectangle: tile.1,
                scaleMode: .fill,
                label: "",
                isMicOn: true
            )
        }
        return Scene(tiles: tiles, audible: Set(names))
    }
}
