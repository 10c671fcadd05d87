import Logging
import Stage

/// The running livestreams of all rooms, by which they go on after a restart.
///
/// They hold stream keys of other platforms, and are therefore in a sealed file.
struct LivestreamPlans: Sendable {
    static let fileName = "livestreams.sealed"

    private let file: SealedFile<[String: LivestreamPlan]>

    /// - Parameter secret: The gateway's secret, the same after a restart.
    init(_ directory: DataDirectory, secret: [UInt8], logger: Logger) {
        file = SealedFile(
            Self.fileName,
            in: directory,
            secret: secret,
            purpose: "footlight livestreams",
            empty: [:],
            loss: "livestreams must be started again",
            logger: logger
        )
    }

    /// Reads the plans of an earlier run; empty, with a log message, if they cannot be read.
    func load() -> [String: LivestreamPlan] { file.load() }

    /// Stores the plan of a room; nil when its livestream has ended.
    ///
    /// Returns at once.
    func set(_ plan: LivestreamPlan?, of room: String) {
        file.change { $0[room] = plan }
    }

    /// Waits until everything is on disk.
    func flush() { file.flush() }
}
