import FootlightTesting
import Media
import Mixer
import Stage

/// One program by Footlight's mixer, on a virtual clock, as fast as one core makes it.
struct FootlightMix {
    let clips: [Clip]
    let program: ProgramConfiguration
    /// Further x264 parameters; empty for those of the preset.
    let encoderOptions: String
    /// Names and microphones are drawn over the tiles.
    var hasTags = true
    /// Takes the program.
    var sink: @Sendable (MediaPacket) -> Void = { _ in }

    /// Milliseconds from a host's clock to the arrival of its packets.
    private static let transit: Int64 = 30
    /// Milliseconds of program in which there is more to do than later.
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
        // All that is decoded is also shown.
        let end = Int64(clips.map(\.seconds).max() ?? 0) * 1000 + Int64(program.jitterTarget)
        renderer.advance(to: MonotonicTime(nanoseconds: 0).advanced(milliseconds: end))
        let statistics = renderer.statistics
        try check(statistics)
        let whole = Self.figures(statistics, used: ProcessorTime.own - before)
        var result = whole.perSecond(Double(clips.map(\.seconds).max() ?? 1))
        result.laterShareOutsideCodecs = whole.since(beginning ?? MixFigures()).shareOutsideCodecs
        return result
    }

    /// A run that lost pictures or sound would be cheap for the wrong reason.
    private func check(_ statistics: MixerStatistics) throws {
        let errors = statistics.encodeErrors + statistics.hosts.reduce(0) { $0 + $1.decodeErrors }
        let wanted = Int64(clips.map(\.seconds).min() ?? 0) * 30
        guard errors == 0, statistics.skippedPictures == 0, statistics.hosts.allSatisfy({ $0.pictures >= wanted - 3 })
        else { throw ToolFailure("the mix is not whole: \(statistics)") }
    }

    /// All that was spent so far.
    private static func figures(_ statistics: MixerStatistics, used: Double) -> MixFigures {
        let processor = statistics.processor
        return MixFigures(
            decode: processor.decode,
            compose: processor.compose,
            encode: processor.encode,
            sound: processor.sound,
            soundDecoding: statistics.hosts.reduce(0) { $0 + $1.soundSeconds },
            soundCoding: statistics.soundEncodeSeconds,
            rest: max(used - (processor.total - processor.rest), 0)
        )
    }
}
