import ArgumentParser
import Gateway

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print an access token.")

    @Option(help: "The folder of the gateway whose key signs the token.")
    var dataDir: String

    @Option(help: "participant, or a machine that is never counted: monitor, relay or thumbnail.")
    var role = "participant"

    @Option(help: "The room the token is for; without it a machine's is for all.")
    var room: String?

    @Option(help: "Who the token is for.")
    var identity: String

    @Option(help: "SEND_AND_RECV, RECV_ONLY or SIGNALLING_ONLY; given again, what else the participant may become.")
    var mode: [String] = []

    @Option(help: "A right beyond one's own: streaming or participants; may be given again.")
    var canAdmin: [String] = []

    @Option(help: "Seconds until the token expires.")
    var expiresIn: Int = 6 * 3600

    func validate() throws {
        guard role == "participant" else { return }
        if room == nil { throw ValidationError("a participant's token needs --room") }
        if mode.isEmpty { throw ValidationError("a participant's token needs --mode") }
    }

    func run() async throws {
        let mint = try TokenMint(dataDirectory: dataDir)
        guard role == "participant", let room else {
            return print(
                try await mint.machineToken(role: role, identity: identity, room: room, expiresIn: expiresIn)
            )
        }
        print(
            try await mint.participantToken(
                room: room,
                identity: identity,
                modes: mode,
                rights: Set(canAdmin),
                expiresIn: expiresIn
            )
        )
    }
}
