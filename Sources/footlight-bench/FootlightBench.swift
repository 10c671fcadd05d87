import ArgumentParser

@main
struct FootlightBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "footlight-bench",
        abstract: "Measures Footlight beside ffmpeg and nginx-rtmp.",
        discussion: """
            Figures count only from a release build on a quiet machine. Compared runs alternate, and \
            ratios are taken within a round, so that a machine that slows down slows both.
            """,
        subcommands: [
            MixerCommand.self, LadderCommand.self, LatencyCommand.self, FanOutCommand.self, EncryptionCommand.self,
            PushCommand.self,
            RoomsCommand.self, EventsCommand.self, ReplayCommand.self, AudienceTruthCommand.self, OracleCommand.self,
            PlayersCommand.self,
            SoakCommand.self, QuarantineCommand.self, StormCommand.self, GlassCommand.self, TimetableCommand.self,
        ]
    )
}
