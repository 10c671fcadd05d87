import FanOut
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

extension ChannelPipeline.SynchronousOperations {
    /// Adds what parses the requests of a connection and encodes the answers to them, each within its bounds.
    ///
    /// What the decoder buffers:
    /// - The one field, or the target, that is being parsed: all of a header or a trailer within `headerLimit`.
    /// - Spaces in a header, which the parser counts as nothing, and all that follows a request with `Connection: Upgrade`
    ///   or the method CONNECT, which it does not parse: bounded by `bufferLimit` for lack of a bound of its own.
    /// - Nothing of a body, which is passed on as it comes; whoever reads it bounds it.
    ///
    /// Beyond its bounds it fails and drops what comes, and `RequestLimitHandler` closes the connection.
    ///
    /// - Parameters:
    ///   - headerLimit: Most of a request's header, and of its trailer, in bytes.
    ///   - limits: What a client may use up.
    func addHTTPServer(headerLimit: Int, limits: HTTPLimits) throws {
        var decoderLimits = NIOHTTPDecoderLimitConfiguration()
        decoderLimits.maxHeaderFieldSize = headerLimit
        decoderLimits.maxHeaderListSize = headerLimit
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)
        // A decoder that has parsed all it was given buffers a field at most.
        let bufferLimit = 2 * headerLimit
        try addHandlers([HTTPResponseEncoder(), ByteToMessageHandler(decoder, maximumBufferSize: bufferLimit)])
        try addHandlers([HTTP1ToHTTPServerCodec(secure: false), RequestLimitHandler(limits: limits)])
    }
}
