import FanOut
import Logging
import NIOCore
import NIOEmbedded
import Viewership

@testable import Gateway

extension FuzzTarget {
    /// Bytes on the public port, through a connection's pipeline; the first byte sets the chunk size.
    static let http = FuzzTarget("http") { input in
        var input = input
        let step = [1, 13, 256, 65_536][Int(input.byte() & 3)]
        let loop = EmbeddedEventLoop()
        let channel = EmbeddedChannel(loop: loop)
        let configuration = FanOutConfiguration()
        let feeds = FeedDirectory(group: loop, configuration: configuration)
        feeds.open("show")
        let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
        ledger.roomBegan("show", sid: "RM_1")
        let service = MediaService(feeds: feeds, hls: HLSDirectory(configuration: configuration.hls), audience: ledger)
        let setup = PublicHTTPChannel(responder: { _, _, _ in }, service: service, headerLimit: 16_384)
        let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
        guard (try? setup.setup(channel: channel, logger: logger).wait()) != nil,
            let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 2)
        else { return }
        channel.connect(to: address, promise: nil)
        while input.rest.readableBytes > 0, channel.isActive {
            // Unparsable input is an error of the channel, which closes it.
            _ = try? channel.writeInbound(input.bytes(step))
            loop.run()
            while (try? channel.readOutbound(as: ByteBuffer.self)) != nil {}
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        try? loop.syncShutdownGracefully()
    }
}
