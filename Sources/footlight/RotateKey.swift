import ArgumentParser
import Foundation
import Gateway

struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Make a new key for access tokens, or for viewers' session ids.",
        discussion: """
            A running gateway takes up the new key by itself, within seconds. Tokens signed with the old key stay good until \
            its file is removed; operator.token has one of the new key at once. With --sessions, ids of the old key are \
            taken for a day.
            """
    )

    @OptionGroup var options: GatewayOptions

    @Flag(help: "Replace the key that proves viewers' session ids.")
    var sessions = false

    @Flag(help: "With --sessions: take no more ids of the old key, but from viewers who are watching.")
    var forget = false

    func validate() throws {
        guard forget, !sessions else { return }
        throw ValidationError("--forget is for --sessions; remove the file of an old token key")
    }

    func run() async throws {
        let configuration = try await options.load()
        guard sessions else {
            let retired = try await KeyRotation(configuration).rotate()
            print("The old key is now \(retired). Remove the file when its tokens are to end.")
            print("operator.token holds a token of the new key, which a running gateway takes up within seconds.")
            return
        }
        if let end = try SessionKeyRotation(configuration).rotate(forgetting: forget) {
            print("A running gateway has the new key within seconds. Ids of the old one are taken until \(end).")
        } else {
            print("A running gateway has the new key within seconds. Ids of the old one are taken no more.")
        }
    }
}
