import Foundation
import Logging
import ServiceLifecycle
import Viewership

/// Stores one sealed copy of the day's salt, so that estimated unique viewers stay the same after a restart.
///
/// The copy is overwritten when the next day begins, and a copy of another day is removed at the start, so that earlier
/// estimates cannot be reproduced.
struct SaltService: Service {
    private static let fileName = "estimates.salt"
    /// Seconds between two checks for a new day.
    private static let checkInterval = 5.0

    let viewership: ViewershipLedger
    let directory: DataDirectory
    let logger: Logger

    /// Restores today's salt from the copy of an earlier run; call it before viewers are admitted.
    ///
    /// On a full disk the salt of the day is not restored after a restart.
    func load() throws {
        let secret = try directory.secret("estimates", for: [Self.fileName])
        if let copy = try directory.read(Self.fileName), viewership.restoreSalt([UInt8](copy), secret: secret) {
            return
        }
        do {
            try persist(secret)
        } catch {
            logger.warning("salt of the day could not be stored", metadata: ["reason": "\(error)"])
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var day = viewership.saltDay
            while !Task.isCancelled {
                if viewership.saltDay != day {
                    do {
                        day = try persist(try directory.secret("estimates", for: [Self.fileName]))
                    } catch {
                        directory.remove(Self.fileName)
                        logger.warning("salt of the day could not be stored", metadata: ["reason": "\(error)"])
                    }
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.checkInterval), tolerance: .seconds(1))
            }
        }
    }

    @discardableResult
    private func persist(_ secret: [UInt8]) throws -> Int64 {
        let sealed = try viewership.sealedSalt(secret: secret)
        try directory.write(Data(sealed.copy), to: Self.fileName, mode: 0o600)
        return sealed.day
    }
}
