import Foundation
import Logging
import ServiceLifecycle
import Viewership

/// Keeps one sealed copy of the day's salt, so that viewers are the same by estimate after a restart.
///
/// The copy of a day is written over as soon as the next one begins; one that an earlier run left from another day is
/// removed at the start. So nobody can make yesterday's estimates again.
struct SaltKeeping: Service {
    private static let fileName = "estimates.salt"
    /// How often is looked whether the day is over; seconds.
    private static let look = 5.0

    let viewership: ViewershipLedger
    let directory: DataDirectory
    let logger: Logger

    /// Takes up the copy of an earlier run of today; to be called before anybody is let in.
    ///
    /// Where the disk is full the day has a salt that a restart does not find again.
    func load() throws {
        let secret = try directory.secret("estimates", for: [Self.fileName])
        if let copy = try directory.read(Self.fileName), viewership.takeSalt([UInt8](copy), secret: secret) { return }
        do {
            try keep(secret)
        } catch {
            logger.warning("the salt of the day cannot be kept", metadata: ["reason": "\(error)"])
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var day = viewership.saltDay
            while !Task.isCancelled {
                if viewership.saltDay != day {
                    do {
                        day = try keep(try directory.secret("estimates", for: [Self.fileName]))
                    } catch {
                        directory.remove(Self.fileName)
                        logger.warning("the salt of the day cannot be kept", metadata: ["reason": "\(error)"])
                    }
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.look), tolerance: .seconds(1))
            }
        }
    }

    @discardableResult
    private func keep(_ secret: [UInt8]) throws -> Int64 {
        let sealed = try viewership.sealedSalt(secret: secret)
        try directory.write(Data(sealed.copy), to: Self.fileName, mode: 0o600)
        return sealed.day
    }
}
