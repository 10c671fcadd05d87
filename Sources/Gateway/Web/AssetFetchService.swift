import ControlAPI
import Logging
import MixerProcess
import NIOCore
import NIOPosix
import Stage
import Synchronization

/// Fetches the URLs of rooms' assets for the mixers, which can connect to the gateway only.
///
/// The content is not decoded. The concurrent fetches are limited per room and in total.
final class AssetFetchService: Sendable {
    /// The most concurrent fetches, per room and in total.
    private static let maximumConcurrent = (room: 4, all: 32)
    /// Seconds after which a refused mixer may retry.
    private static let retryAfter = 1

    private let allowsPrivateAddresses: Bool
    private let ports: ListeningPorts
    private let logger: Logger
    /// The number of running fetches by room.
    private let running = Mutex<[String: Int]>([:])

    /// - Parameters:
    ///   - allowsPrivateAddresses: Whether operators' URLs may lead to private and loopback addresses.
    ///   - ports: The gateway's own ports, from which nothing is fetched.
    init(allowsPrivateAddresses: Bool, ports: ListeningPorts, logger: Logger) {
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.ports = ports
        self.logger = logger
    }

    /// Fetches one asset.
    ///
    /// - Throws: 53006 for too many fetches or a temporary failure, 3073 for a permanent one.
    @Sendable
    func fetch(
        _ url: String,
        _ kind: Asset.Kind,
        room: String,
        isOperators: Bool
    ) async throws(StageError) -> ByteBuffer {
        guard begin(room) else { throw .serverBusy(retryAfter: Self.retryAfter) }
        defer { end(room) }
        let fetch = AssetFetcher(
            allowsPrivateAddresses: allowsPrivateAddresses && isOperators,
            ownPorts: Set(ports.current.all.compactMap { UInt16(exactly: $0) })
        )
        do {
            // Off the loops that serve viewers: TLS handshakes and files of 20 MiB are slow.
            return try await fetch.fetch(url: url, kind, on: MultiThreadedEventLoopGroup.singleton)
        } catch {
            logger.warning(
                "could not fetch an asset",
                metadata: ["room": "\(room)", "asset": "\(url)", "reason": "\(error)"]
            )
            guard error.isFinal else { throw .serverBusy(retryAfter: nil) }
            throw .invalidParameter("url", error.reason)
        }
    }

    private func begin(_ room: String) -> Bool {
        running.withLock { running in
            let (own, all) = (running[room] ?? 0, running.values.reduce(0, +))
            guard own < Self.maximumConcurrent.room, all < Self.maximumConcurrent.all else { return false }
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
