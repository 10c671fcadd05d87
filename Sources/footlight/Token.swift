import ArgumentParser
import Gateway
import Stage

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print an access token.",
        discussion: """
            An operator's token opens everything and is never accepted in a URL; give each operator one of its own: \
            --role operator --name NAME --expires 90d. A token ends before its time when it is revoked by its jti, or when \
            the key that signed it is rotated and removed.
            """
    )

    @Option(help: "The folder of the gateway whose key signs the token.")
    var dataDir: String

    @Option(help: "participant, operator, or a machine that is never counted: monitor, relay or thumbnail.")
    var role = "participant"

    @Option(help: "The room the token is for; without it a machine's is for all.")
    var room: String?

    @Option(
        name: [.customLong("identity"), .customLong("name")],
        help: "Who the token is for, as the audit log has it."
    )
    var identity: String

    @Option(help: "SEND_AND_RECV, RECV_ONLY or SIGNALLING_ONLY; given again, what else the participant may become.")
    var mode: [String] = []

    @Option(help: "A right beyond one's own: streaming or participants; may be given again.")
    var canAdmin: [String] = []

    @Option(help: "How long it is good for, as in 90d, 12h or 30m; otherwise 90 days for an operator, else 6 hours.")
    var expires: String?

    @Option(help: "Seconds until the token expires, instead of --expires.")
    var expiresIn: Int?

    func validate() throws {
        _ = try lifetime()
        switch role {
        case "participant":
            if room == nil { throw ValidationError("a participant's token needs --room") }
            if mode.isEmpty { throw ValidationError("a participant's token needs --mode") }
        case "operator":
            guard room == nil, mode.isEmpty, canAdmin.isEmpty else {
                throw ValidationError("an operator's token is for everything; leave out --room, --mode and --can-admin")
            }
        default: break
        }
    }

    func run() async throws {
        let issuer = try TokenIssuer(dataDirectory: dataDir)
        let lifetime = try lifetime()
        switch role {
        case "operator":
            do {
                print(try await issuer.operatorToken(name: identity, lifetime: lifetime))
            } catch let error as StageError {
                throw ValidationError("--\(error.message)")
            }
        case "participant":
            print(
                try await issuer.participantToken(
                    room: room ?? "",
                    identity: identity,
                    modes: mode,
                    rights: Set(canAdmin),
                    expiresIn: lifetime.seconds
                )
            )
        default:
            print(
                try await issuer.machineToken(
                    role: role,
                    identity: identity,
                    room: room,
                    expiresIn: lifetime.seconds
                )
            )
        }
    }

    private func lifetime() throws -> TokenLifetime {
        let usual = role == "operator" ? 90 * 86_400 : 6 * 3600
        guard expires == nil || expiresIn == nil else { throw ValidationError("give --expires or --expires-in") }
        let given = expires.map { TokenLifetime($0) } ?? TokenLifetime(seconds: expiresIn ?? usual)
        guard let given else {
            throw ValidationError("--expires is a number and d, h, m or s, of ten years at most, as in 90d")
        }
        return given
    }
}
