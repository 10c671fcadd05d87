import Foundation
import Logging
import ServiceLifecycle
import Viewership

/// Takes up the keys that prove session ids when the operator has rotated them, and drops a retired one in its time.
struct SessionKeyKeeping: Service {
    /// Seconds between two looks at the file.
    private static let look = 5.0

    let viewership: ViewershipLedger
    let directory: DataDirectory
    let logger: Logger

    /// Goes on with the keys that are in force.
    ///
    /// - Parameter known: The ring as it was, and whether its retired key was in force.
    /// - Returns: The same as it is now.
    func takeUp(_ known: (SessionKeyRing, Bool)?, at date: Date) throws -> (SessionKeyRing, Bool) {
        let ring = try SessionKeyRing(directory)
        let now = (ring, ring.end(at: date) != nil)
        if let known, known == now { return now }
        viewership.use(ring.keys(at: date))
        return now
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var known: (SessionKeyRing, Bool)?
            var isReadable = true
            while !Task.isCancelled {
                do {
                    known = try await directory.onQueue { [known] in try takeUp(known, at: Date()) }
                    isReadable = true
                } catch {
                    if isReadable {
                        logger.error("the keys of session ids cannot be read", metadata: ["reason": "\(error)"])
                    }
                    isReadable = false
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.look), tolerance: .seconds(1))
            }
        }
    }
}
