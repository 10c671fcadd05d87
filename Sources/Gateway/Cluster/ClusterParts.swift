import Cluster
import FanOut
import Logging
import NIOCore
import PostgresStore
import ServiceLifecycle
import Stage

/// The components by which a gateway works with the others of its cluster.
struct ClusterParts: Sendable {
    let membership: ClusterMembership
    let controller: ClusterController
    /// What the public ports need to know.
    let routing: NodeRouting
    private let link: PostgresLink
    private let store: PostgresClusterStore
    private let directory: DataDirectory
    private let logger: Logger

    /// Makes the components; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - forwards: The maximum number of requests that are forwarded at a time.
    ///   - directory: The data folder, which is locked.
    /// - Throws: `ConfigurationError` for a connection string that cannot be used.
    init(
        _ configuration: ClusterConfiguration,
        forwards: Int,
        directory: DataDirectory,
        group: any EventLoopGroup,
        logger: Logger
    ) throws(ConfigurationError) {
        let lease = LeaseConfiguration()
        do {
            link = try PostgresLink(
                .init(connection: configuration.connection, timeout: lease.requestTimeout),
                logger: logger
            )
        } catch {
            throw ConfigurationError(key: "cluster.dsn", problem: "cannot be used: \(error)")
        }
        store = PostgresClusterStore(link: link)
        membership = ClusterMembership(
            node: configuration.node,
            address: configuration.address,
            predecessors: ClusterService.predecessors(in: directory),
            lease: lease
        )
        let signature = NodeSignature(node: configuration.node, key: configuration.key)
        controller = ClusterController(
            membership: membership,
            forwarder: NodeForwarder(
                membership: membership,
                signature: signature,
                limit: forwards,
                group: group,
                logger: logger
            )
        )
        routing = NodeRouting(membership, signature)
        self.directory = directory
        self.logger = logger
    }

    /// Makes the service that holds the lease and claims the rooms of a directory.
    func service(for stage: RoomDirectory) -> some Service {
        ClusterService(
            membership: membership,
            stage: stage,
            database: store,
            directory: directory,
            prepare: { [store] in try await store.prepare() },
            tidy: { [store] in try await store.removeReleased() },
            logger: logger
        )
    }

    /// Closes the connections to the other gateways, which `DrainService` has closed before, and to the database.
    func close() async {
        await controller.forwarder.shutdown()
        link.close()
    }
}
