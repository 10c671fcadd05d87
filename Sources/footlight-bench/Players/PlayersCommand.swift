import ArgumentParser
import Codecs
import Egress
import FootlightTesting

struct PlayersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "players",
        abstract: "A show that real players watch one after the other: what they decode, and as what they are counted.",
        discussion: """
            Each player must show pictures and let sound be heard, and must be counted as one viewer, in its way and as \
            its kind, while it plays and in the history. Fails when one does not, or is not there.

            The host's pictures say when they were taken. How long a player takes to its first picture counts from its \
            being called, how far it is behind from the moment in the picture: to its being shown in a browser or in \
            VLC, to its being decoded in the others, which show everything as soon as they have it.
            """
    )

    @Option(help: "Seconds that each plays.")
    var seconds = 9

    @Option(help: "Only players whose name holds this word, such as VLC or hls; parted by commas.")
    var only: String?

    @OptionGroup var hlsJS: HLSJSFile

    @Option(help: "A folder that keeps what the players decoded.")
    var keep: String?

    @OptionGroup var program: GatewayProgram

    private static let room = "show"

    func run() async throws {
        CodecLibraries.quiet()
        EgressLibraries.initialise()
        let gateway = try await program.start()
        defer { gateway.end() }
        try await gateway.makeRoom(Self.room)
        let place = try await gateway.makePlace(for: "host", in: Self.room)
        let host = TimeCodeHost(address: place.address, sound: .live)
        defer { host.leave() }
        try await gateway.waitUntilPlayable(Self.room)
        // What was shown before the hosts came leaves the playlist's end.
        try await Task.sleep(for: .seconds(6))

        let scratch = try TemporaryFolder("players")
        defer { withExtendedLifetime(scratch) {} }
        let folder = keep ?? scratch.path
        var table = Table(
            "player",
            "way",
            "pictures",
            "sound, dB",
            "first after, s",
            "behind, s",
            "counted",
            "in the history",
            "gone after, s",
            "verdict"
        )
        var failures = 0
        func note(_ name: String, _ way: PlayerTrial.Way, _ outcome: PlayerOutcome) {
            if !outcome.isGood { failures += 1 }
            table.add([name, way.rawValue] + outcome.cells)
            print(([name, way.rawValue] + outcome.cells).joined(separator: " | "))
        }
        for trial in PlayerTrial.all(seconds: seconds) where isWanted(trial.name) {
            note(trial.player, trial.way, await PlayerRun(gateway, room: Self.room, folder: folder).run(trial, seconds))
        }
        for trial in try browsers() where isWanted("Chromium \(trial.name)") {
            let run = PlayerRun(gateway, room: Self.room, folder: folder)
            note("Chromium, \(trial.name)", trial.way, await run.run(trial, seconds))
        }
        print("")
        table.printOut()
        guard failures == 0 else { throw ToolFailure("\(failures) players did not play, or were not counted right") }
    }

    /// The ways in which a page can play.
    private func browsers() throws -> [BrowserTrial] {
        var browsers = [
            BrowserTrial(name: "watch page", way: .llhls, page: .watch),
            BrowserTrial(name: "by itself", way: .hls, page: .native),
        ]
        if let script = try hlsJS.script {
            browsers.append(BrowserTrial(name: "hls.js", way: .llhls, page: .hlsJS(HLSJS(script: script))))
        }
        return browsers
    }

    private func isWanted(_ name: String) -> Bool {
        guard let only else { return true }
        return only.lowercased().split(separator: ",").contains { name.lowercased().contains($0) }
    }
}
