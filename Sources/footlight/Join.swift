import ArgumentParser
import Foundation
import FootlightClient
import Stage

struct Join: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Join a room of a gateway and print how the show goes.",
        discussion: """
            One line for each change: where the call stands, who is on stage with microphone and camera, how many \
            watch, and what is on air. Ctrl-C leaves.

            The token says who joins and how; --mode asks for another mode of those that it allows. \
            SEND_AND_RECV joins as a host and sends a file, or video of one colour and a tone. RECV_ONLY joins as \
            audience. SIGNALLING_ONLY only looks on, and is counted as neither.
            """
    )

    @Argument(help: "The room's name or sid.")
    var room: String

    @Option(help: "The gateway.")
    var server: String = "http://127.0.0.1:8080"

    @Option(help: "The access token; the environment's FOOTLIGHT_TOKEN when left out.")
    var token: String?

    @Option(help: "Who joins; the identity in the token when left out.")
    var identity: String?

    @Option(help: "The name that others see; the identity when left out.")
    var name: String?

    @Option(help: "SEND_AND_RECV, RECV_ONLY or SIGNALLING_ONLY; the first mode of the token when left out.")
    var mode: String?

    @Option(help: "An FLV file with H.264 and AAC for a host to send; its end leaves. A pattern when left out.")
    var file: String?

    @Flag(help: "Begin the file again at its end.")
    var loop = false

    @Flag(inversion: .prefixedNo, help: "Publish the microphone.")
    var mic = true

    @Flag(inversion: .prefixedNo, help: "Publish the camera.")
    var camera = true

    @Flag(help: "Accept every invitation to the stage.")
    var accept = false

    func validate() throws {
        _ = try parsedOptions()
    }

    func run() async throws {
        let (address, token, identity, mode) = try parsedOptions()
        let session = await JoinSession(
            call: BroadcastCall(client: BroadcastClient(baseURL: address, token: token), identity: identity),
            source: source(),
            acceptsInvitations: accept
        )
        let settings = CallSettings(isAudioOn: mic, isVideoOn: camera)
        if let problem = await session.run(CallJoin(room: room, mode: mode), as: name, settings) {
            FileHandle.standardError.write(Data("\(problem)\n".utf8))
            throw ExitCode.failure
        }
    }

    private func parsedOptions() throws -> (address: URL, token: String, identity: String, mode: ParticipantMode) {
        guard let address = URL(string: server), ["http", "https"].contains(address.scheme), address.host() != nil
        else { throw ValidationError("--server is no http or https address: \(server)") }
        guard let token = self.token ?? ProcessInfo.processInfo.environment["FOOTLIGHT_TOKEN"], !token.isEmpty else {
            throw ValidationError("--token or FOOTLIGHT_TOKEN is needed")
        }
        let claims = TokenClaims(token)
        guard let identity = self.identity ?? claims?.identity else {
            throw ValidationError("--identity is needed, for the token names nobody")
        }
        var mode = claims?.mode ?? .sendAndReceive
        if let text = self.mode {
            guard let wanted = ParticipantMode(rawValue: text) else {
                throw ValidationError("--mode is SEND_AND_RECV, RECV_ONLY or SIGNALLING_ONLY, not \(text)")
            }
            mode = wanted
        }
        if let file, !FileManager.default.isReadableFile(atPath: file) {
            throw ValidationError("--file cannot be read: \(file)")
        }
        return (address, token, identity, mode)
    }

    private func source() -> any MediaSource {
        if let file { FileMediaSource(path: file, isLooped: loop) } else { PatternMediaSource() }
    }
}
