import ArgumentParser
import Codecs
import Mixer
import Stage

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Renders a program from a recording of its arrivals, and prints the statistics of each host.",
        discussion: """
            A recording is made by a mixer started with --record-arrivals FILE. The fingerprints are the same in \
            every run, for the same recording and the same version of the program.
            """
    )

    @Argument(help: "The recording.")
    var file: String

    func run() throws {
        CodecLibraries.quiet()
        let replay = try ArrivalReplay(path: file)
        let configuration = replay.configuration
        print(
            "\(configuration.width)x\(configuration.height) at \(configuration.frameRate.perSecond.text(2)), "
                + "\(replay.packets) packets in \(replay.seconds.text(1)) s"
        )
        let (fingerprint, statistics) = try replay.fingerprint()
        print("frames \(fingerprint.frames), fingerprint \(hexadecimal(fingerprint.video))")
        print("samples \(fingerprint.samples), fingerprint \(hexadecimal(fingerprint.audio))\n")
        var table = Table("host", "ppm", "buffer ms", "late", "dropped", "repeated", "gaps", "skips", "leaps", "steps")
        for host in statistics.hosts {
            table.add([
                host.id,
                host.driftPartsPerMillion.text(1),
                host.buffer.text(1),
                "\(host.late)",
                "\(host.packetsDropped + host.framesDropped)",
                "\(host.framesRepeated)",
                "\(host.audioGaps)",
                "\(host.audioSkips)",
                "\(host.timestampDiscontinuities)",
                "\(host.offsetSteps)",
            ])
        }
        table.printOut()
    }

    private func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
