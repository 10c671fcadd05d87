@testable import FanOut
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// A connection of bytes to a site.
final class ByteLine {
    let channel: EmbeddedChannel
    let behind = ServerBehind()

    init(to stand: SiteStand, from address: String = "127.0.0.1") throws {
        channel = EmbeddedChannel(loop: stand.loop)
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        let pipeline = channel.pipeline.syncOperations
        let media = MediaHTTPHandler(site: stand.site)
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        let limit = RequestLimitHandler(limits: stand.site.limits)
        try pipeline.addHandlers([HTTP1ToHTTPServerCodec(secure: false), limit, media, behind])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
    }

    /// Asks for a path, with further fields as lines; what came back.
    func ask(_ path: String, _ fields: String = "", method: String = "GET") throws -> [UInt8] {
        try send("\(method) \(path) HTTP/1.1\r\nHost: a.example\r\n\(fields)\r\n")
    }

    /// Sends bytes; what came back.
    func send(_ text: String) throws -> [UInt8] {
        try channel.writeInbound(ByteBuffer(string: text))
        return try received()
    }

    /// What has come back since it was asked last.
    func received() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        return bytes
    }
}
