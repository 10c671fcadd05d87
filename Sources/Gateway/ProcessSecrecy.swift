import CSeccomp
import Logging

/// Keeps this process's memory, in which keys are, to itself.
enum ProcessSecrecy {
    /// Leaves no core file behind, and lets no other process of the same user look into this one's memory or environment.
    static func keep(_ logger: Logger) {
        let results = [footlight_limit(Int32(FOOTLIGHT_LIMIT_CORE), 0), footlight_not_dumpable()]
        guard let failure = results.first(where: { $0 < 0 }) else { return }
        logger.warning("the system may leave this process's memory behind", metadata: ["errno": "\(-failure)"])
    }
}
