#if os(Linux)
import NIOCore
import NIOPosix
import Testing

@testable import RTMP

@Suite("Socket options of connections")
struct PeerSocketOptionsTests {
    @Test("detects a vanished peer within about 15 seconds, with and without pending data")
    func vanished() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let client = try await ClientBootstrap(group: group)
            .connect(host: "127.0.0.1", port: server.localAddress?.port ?? 0).get()
        let values = try await client.eventLoop.submit { () throws -> [Int32] in
            PeerSocketOptions.configure(client)
            let options = try #require(client.syncOptions)
            // TCP_USER_TIMEOUT, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT.
            let ofTCP = try [18, 4, 5, 6].map { number in
                Int32(try options.getOption(.tcpOption(NIOBSDSocket.Option(rawValue: number))))
            }
            return ofTCP + [Int32(try options.getOption(.socketOption(.so_keepalive)))]
        }.get()
        #expect(values == [15_000, 5, 5, 3, 1])
        try await client.close()
        try await server.close()
        try await group.shutdownGracefully()
    }
}
#endif
