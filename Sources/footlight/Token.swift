import ArgumentParser
import Gateway

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print an access token for a participant.")

    @Option(help: "The folder of the gateway whose key signs the token.")
    var dataDir: String

    @Option(help: "The room the token is for.")
    var room: String

    @Option(help: "Who the token is for.")
    var identity: String

    @Option(help: "SEND_AND_RECV, RECV_ONLY or SIGNALLING_ONLY; given again, what else the participant may become.")
    var mode: [String]

    @Option(help: "A right beyond one's own: streaming or participants; may be given again.")
    var canAdmin: [String] = []

    @Option(help: "Seconds until the token expires.")
    var expiresIn: Int = 6 * 3600

    func run() async throws {
        print(
            try await TokenMint(dataDirectory: dataDir).participantToken(
                room: room,
                identity: identity,
                modes: mode,
                rights: Set(canAdmin),
                expiresIn: expiresIn
            )
        )
    }
}
