import ArgumentParser
import Gateway

struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Make a new key for access tokens; those signed with the old one stay good until its file is removed."
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let retired = try KeyRotation(try await options.load()).rotate()
        print("The old key is now \(retired). Restart the gateway; remove the file when its tokens are to end.")
    }
}
