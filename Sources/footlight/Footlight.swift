import ArgumentParser
import Dispatch
import Foundation
import Gateway

/// The entry point, before any other thread runs.
@main
enum Program {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "mixer" { MixerConfinement.begin() }
        Task {
            await Footlight.main()
            exit(0)
        }
        dispatchMain()
    }
}

/// The program: one command per thing it does.
struct Footlight: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "footlight",
        abstract: "A live-stream broadcast gateway: hosts in, one mixed program out, an audience counted exactly.",
        subcommands: [Serve.self, Demo.self, Join.self, Token.self, CheckConfig.self, RotateKey.self, Mixer.self]
    )
}
