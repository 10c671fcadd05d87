import NIOCore
import NIOPosix
import NIOSSL
import RTMP

/// Runs `body` with a server on a free port of one event loop.
func withServer(
    _ delegate: Relay,
    limits: RTMPLimits = RTMPLimits(),
    tls: NIOSSLContext? = nil,
    _ body: (RTMPServer, MultiThreadedEventLoopGroup) async throws -> Void
) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let server = try await RTMPServer.start(
        host: "127.0.0.1",
        port: 0,
        group: group,
        delegate: delegate,
        limits: limits,
        tls: tls
    )
    do {
        try await body(server, group)
    } catch {
        await server.shutdown()
        try await group.shutdownGracefully()
        throw error
    }
    await server.shutdown()
    try await group.shutdownGracefully()
}
