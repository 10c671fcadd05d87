import FootlightTesting
import Media
import Mixer
import Stage
import Synchronization

/// One host in full size as a program and three renditions, on a virtual clock, as fast as one core makes it.
struct FootlightLadder {
    let clip: Clip
    /// Further x264 parameters; empty for those of the preset.
    let encoderOptions: String

    static let program = ProgramConfiguration(
        width: 1920,
        height: 1080,
        videoBitrate: 5000,
        jitterTarget: 100,
        ladder: RenditionLadder(renditions: [Rendition(.hd), Rendition(.standard), Rendition(.low)])
    )
    private static let transit: Int64 = 30

    /// Runs once; returns processor seconds per second of program.
    func run() throws -> Double {
        let before = ProcessorTime.own
        let sizes = Mutex<[String: Int]>([:])
        let renderer = try ProgramRenderer(
            configuration: Self.program,
            encoderOptions: encoderOptions,
            sink: { packet in sizes.withLock { $0["", default: 0] += packet.isVideo ? 1 : 0 } }
        )
        try renderer.offerRenditions { name, packet in
            sizes.withLock { $0[name, default: 0] += packet.isVideo ? 1 : 0 }
        }
        renderer.apply(.grid(of: ["host"], on: Self.program))
        let input = renderer.addHost("host")
        for packet in try clip.packets {
            let moment = MonotonicTime(nanoseconds: 0).advanced(milliseconds: packet.timestamp + Self.transit)
            renderer.advance(to: moment)
            input.receive(packet, arrival: moment)
        }
        renderer.advance(to: MonotonicTime(nanoseconds: 0).advanced(milliseconds: Int64(clip.seconds) * 1000))
        let used = ProcessorTime.own - before
        // A run that lost pictures would be cheap for the wrong reason.
        let counts = sizes.withLock { $0 }
        guard counts.count == 4, counts.values.allSatisfy({ $0 >= clip.seconds * 30 - 3 }) else {
            throw ToolFailure("the ladder is not whole: \(counts)")
        }
        return used / Double(clip.seconds)
    }
}
