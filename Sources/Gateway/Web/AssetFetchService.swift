import ControlAPI
import Logging
import NIOCore
import NIOPosix
import Stage
import Synchronization

/// Fetches what rooms name by URL for their mixers, which themselves reach nothing but this gateway.
///
/// Nothing is decoded here. A few files are fetched at the same time for a room, and some more for all of them.
final class AssetFetchService: Sendable {
    /// Files fetched at the same time for one room, and for all.
    private static let most = (room: 4, all: 32)
    /// Seconds after which a mixer that was refused a place may ask again.
    private static let retryAfter = 1

    private let allowsPrivateAddresses: Bool
    private let ports: ListeningPorts
    private let logger: Logger
    /// How many are under way, by room.
    private let running = Mutex<[String: Int]>([:])

    /// - Parameters:
    ///   - allowsPrivateAddresses: Whether what operators name may be at private and loopback addresses.
    ///   - ports: The gateway's own, from which nothing is fetched.
    init(allowsPrivateAddresses: Bool, ports: ListeningPorts, logger: Logger) {
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.ports = ports
        self.logger = logger
    }

    /// Fetches one file.
    ///
    /// - Throws: 53006 when there are too many under way or nobody answers, 3073 for what cannot be had.
    @Sendable
    func fetch(
        _ url: String,
        _ kind: Asset.Kind,
        room: String,
        isOperators: Bool
    ) async throws(StageError) -> ByteBuffer {
        guard begin(room) else { throw .serverBusy(retryAfter: Self.retryAfter) }
        defer { end(room) }
        let fetch = AssetFetch(
            allowsPrivateAddresses: allowsPrivateAddresses && isOperators,
            ownPorts: Set(ports.current.all.compactMap { UInt16(exactly: $0) })
        )
        do {
            // Not on the loops that serve viewers: certificates and files of 20 MiB take their time.
            return try await fetch.fetch(url: url, kind, on: MultiThreadedEventLoopGroup.singleton.next()).get()
        } catch {
            logger.warning(
                "could not fetch an asset",
                metadata: ["room": "\(room)", "asset": "\(url)", "reason": "\(error)"]
            )
            guard let error = error as? AssetError, error.isFinal else { throw .serverBusy(retryAfter: nil) }
            throw .invalidParameter("url", error.reason)
        }
    }

    private func begin(_ room: String) -> Bool {
        running.withLock { running in
            let (own, all) = (running[room] ?? 0, running.values.reduce(0, +))
            guard own < Self.most.room, all < Self.most.all else { return false }
            running[room] = own + 1
            return true
        }
    }

    private func end(_ room: String) {
        running.withLock { running in
            let left = (running[room] ?? 1) - 1
            running[room] = left > 0 ? left : nil
        }
    }
}
