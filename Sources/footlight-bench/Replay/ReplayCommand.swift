import ArgumentParser
import Codecs
import Mixer
import Stage

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Makes a program again from a recording of its arrivals, and says what became of each host.",
        discussion: """
            A recording is made by a mixer that is started with --record-arrivals FILE. The fingerprints are the same in \
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
        print("pictures \(fingerprint.pictures), fingerprint \(hexadecimal(fingerprint.picture))")
        print("samples \(fingerprint.samples), fingerprint \(hexadecimal(fingerprint.sound))\n")
        var table = Table("host", "ppm", "buffer ms", "late", "dropped", "repeated", "gaps", "skips", "leaps", "steps")
        for host in statistics.hosts {
            table.add([
                host.id,
                host.driftPartsPerMillion.text(1),
                host.buffer.text(1),
                "\(host.late)",
                "\(host.packetsDropped + host.picturesDropped)",
                "\(host.picturesRepeated)",
                "\(host.soundGaps)",
                "\(host.soundSkips)",
                "\(host.timestampLeaps)",
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
