import ArgumentParser
import Codecs
import Egress
import TestSupport

struct PlayersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "players",
        abstract: "Plays a show with real players, and checks what they decode and how they are counted.",
        discussion: """
            Each player must decode video and audio, and must be counted as one viewer, by its protocol and \
            client class, while it plays and in the history. Fails when one does not, or is not installed.

            The host's frames carry their capture time. The startup time of a player counts from its start, its \
            latency from the capture: until the frame is shown in a browser or in VLC, until it is decoded in the \
            others, which show each frame at once.
            """
    )

    @Option(help: "Seconds that each player plays.")
    var seconds = 9

    @Option(help: "Only players whose name contains a word, such as VLC or hls; separated by commas.")
    var only: String?

    @OptionGroup var hlsJS: HLSJSFile

    @Option(help: "A folder in which to save what the players decoded.")
    var keep: String?

    @Flag(name: .customLong("private"), help: "Make the room private, and let the players watch with a ticket.")
    var isPrivate = false

    @OptionGroup var program: GatewayProgram

    private static let room = "show"

    func run() async throws {
        CodecLibraries.quiet()
        EgressLibraries.initialise()
        let gateway = try await program.start()
        defer { gateway.end() }
        try await gateway.makeRoom(Self.room)
        let ingest = try await gateway.makeHost(for: "host", in: Self.room)
        let host = TimeCodeHost(address: ingest.address, audioMode: .live)
        defer { host.leave() }
        try await gateway.waitUntilPlayable(Self.room)
        let query = isPrivate ? "?ticket=\(try await gateway.makePrivate(Self.room))" : ""
        // Frames from before the host joined leave the playlist's end.
        try await Task.sleep(for: .seconds(6))

        let scratch = try TemporaryFolder("players")
        defer { withExtendedLifetime(scratch) {} }
        let folder = keep ?? scratch.path
        var table = Table(
            "player",
            "way",
            "frames",
            "audio, dB",
            "first after, s",
            "behind, s",
            "counted",
            "in the history",
            "gone after, s",
            "verdict"
        )
        var failures = 0
        func report(_ name: String, _ method: PlayerTrial.Method, _ outcome: PlayerOutcome) {
            if !outcome.isGood { failures += 1 }
            table.add([name, method.rawValue] + outcome.cells)
            print(([name, method.rawValue] + outcome.cells).joined(separator: " | "))
        }
        for trial in PlayerTrial.all(seconds: seconds) where isSelected(trial.name) {
            let run = PlayerRun(gateway, room: Self.room, query: query, folder: folder)
            report(trial.player, trial.method, await run.run(trial, seconds))
        }
        for trial in try browsers() where isSelected("Chromium \(trial.name)") {
            let run = PlayerRun(gateway, room: Self.room, query: query, folder: folder)
            report("Chromium, \(trial.name)", trial.method, await run.run(trial, seconds))
        }
        print("")
        table.printOut()
        guard failures == 0 else { throw ToolFailure("\(failures) players failed to play, or were miscounted") }
    }

    /// Returns the pages of Chromium that play.
    private func browsers() throws -> [BrowserTrial] {
        var browsers = [
            BrowserTrial(name: "watch page", method: .llhls, page: .watch),
            BrowserTrial(name: "by itself", method: .hls, page: .native),
        ]
        if let script = try hlsJS.script {
            browsers.append(BrowserTrial(name: "hls.js", method: .llhls, page: .hlsJS(HLSJS(script: script))))
        }
        return browsers
    }

    private func isSelected(_ name: String) -> Bool {
        guard let only else { return true }
        return only.lowercased().split(separator: ",").contains { name.lowercased().contains($0) }
    }
}
