import ArgumentParser

/// The program: one command per thing it does.
@main
struct Footlight: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "footlight",
        abstract: "A live-stream broadcast gateway: hosts in, one mixed program out, an audience counted exactly.",
        subcommands: [Serve.self, Demo.self, Join.self, Token.self, CheckConfig.self, RotateKey.self, Mixer.self]
    )
}
