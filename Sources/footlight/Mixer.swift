import ArgumentParser
import MixerProcess

struct Mixer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Mix one room's program; started by the gateway, which hands the token over in FOOTLIGHT_MIXER_TOKEN.",
        shouldDisplay: false
    )

    @Option(help: "The room to mix.")
    var room: String

    @Option(help: "The address under which the gateway is reached.")
    var host: String = "127.0.0.1"

    @Option(help: "The gateway's RTMP port.")
    var rtmpPort: Int

    @Option(help: "The gateway's HTTP port.")
    var httpPort: Int

    @Option(help: "The run of the program; a later one replaces an earlier one.")
    var epoch: UInt64

    @Option(help: ArgumentHelp("Takes down all that arrives in this file.", visibility: .hidden))
    var recordArrivals: String?

    func run() async throws {
        let arguments = MixerArguments(room: room, host: host, rtmpPort: rtmpPort, httpPort: httpPort, epoch: epoch)
        try await RoomMixer(arguments, recording: recordArrivals).run()
    }
}
