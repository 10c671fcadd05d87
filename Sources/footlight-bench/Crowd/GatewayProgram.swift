import ArgumentParser

/// Which gateway is measured; an option of every command that starts one.
struct GatewayProgram: ParsableArguments {
    @Option(help: "The footlight program; the one beside this program when left out.")
    var binary: String?
}
