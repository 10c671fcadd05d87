import ArgumentParser
import Gateway

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the data folder into one file; a gateway may run on it meanwhile.",
        discussion: "The file holds keys: keep it as you keep passwords."
    )

    @Argument(help: "The archive to write, such as footlight.tar.gz.")
    var file: String

    @Flag(help: "Include the media of recordings.")
    var recordings = false

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let configuration = try await options.load()
        let backup = Backup(directory: configuration.dataDirectory)
        try backup.write(to: file, includesRecordings: recordings, configuration: options.config)
        print("\(configuration.dataDirectory) is copied to \(file).")
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a data folder of a backup.",
        discussion: "The data folder must be empty or missing."
    )

    @Argument(help: "The archive, as footlight backup writes it.")
    var file: String

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let configuration = try await options.load()
        let settings = try Backup(directory: configuration.dataDirectory).restore(from: file)
        print("\(configuration.dataDirectory) is restored.")
        if let settings { print("The configuration file of the backup is \(settings).") }
    }
}
