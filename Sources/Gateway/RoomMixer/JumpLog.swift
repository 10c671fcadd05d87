import Logging
import Media
import Synchronization

/// Says in the log that a program left out time; any thread.
final class JumpLog: Sendable {
    private let logger: Logger
    private let pacing = Mutex(JumpPacing())

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// The program was late, and went on so many milliseconds later.
    func jumped(milliseconds: Int) {
        let news = pacing.withLock { $0.jumped(milliseconds: milliseconds, now: .now()) }
        guard let news else { return }
        logger.warning(
            "the program was late and left out time",
            metadata: ["milliseconds": "\(news.milliseconds)", "jumps": "\(news.jumps)"]
        )
    }
}
