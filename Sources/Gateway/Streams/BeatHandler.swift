import FanOut
import NIOCore
import Viewership

/// Reads one line of each datagram of a server in front of us.
final class BeatHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let proxies: TrustedProxies
    private let viewership: ViewershipLedger

    init(proxies: TrustedProxies, viewership: ViewershipLedger) {
        self.proxies = proxies
        self.viewership = viewership
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let datagram = unwrapInboundIn(data)
        guard let sender = datagram.remoteAddress.ipAddress, proxies.mayReport(from: sender) else {
            return viewership.countForeignBeat()
        }
        let text = String(buffer: datagram.data)
        if let line = BeatLine(text) {
            viewership.take(line)
        } else if let line = MediaBeatLine(text) {
            viewership.take(line)
        } else {
            viewership.countMalformedBeat()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A port that nobody listens on answers one datagram with an error; the next one is read all the same.
        viewership.countMalformedBeat()
    }
}
