import HTTPTypes
public import NIOCore
public import NIOHTTP1
public import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Converts parsed requests and responses between NIO's types and HTTPTypes, as `HTTP1ToHTTPServerCodec` does.
///
/// That codec parses the target of every request as a URL, to find the path after a scheme. A target that begins with a
/// slash (origin form, RFC 9112 section 3.2.1) has no scheme, so the target itself is the path; this codec converts such
/// requests without parsing, and passes everything else to the other one. The resulting requests are equal.
public final class HTTPServerCodec: ChannelDuplexHandler, RemovableChannelHandler {
    /// Request parts from the decoder.
    public typealias InboundIn = HTTPServerRequestPart
    /// Converted request parts.
    public typealias InboundOut = HTTPRequestPart
    /// Response parts.
    public typealias OutboundIn = HTTPResponsePart
    /// Converted response parts, for the encoder.
    public typealias OutboundOut = HTTPServerResponsePart

    private let isSecure: Bool
    private let codec: HTTP1ToHTTPServerCodec

    /// Creates a codec for one connection.
    ///
    /// - Parameter isSecure: Whether the connection uses TLS, so that requests have the scheme `https`.
    public init(isSecure: Bool = false) {
        self.isSecure = isSecure
        codec = HTTP1ToHTTPServerCodec(secure: isSecure)
    }

    /// Converts one part of a request.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data), head.uri.utf8.first == UInt8(ascii: "/"),
            let method = try? HTTPRequest.Method(head.method)
        else {
            codec.channelRead(context: context, data: data)
            return
        }
        let request = HTTPRequest(
            method: method,
            scheme: isSecure ? "https" : "http",
            authority: head.headers.first(name: "Host"),
            path: head.uri,
            headerFields: HTTPFields(head.headers, splitCookie: false)
        )
        context.fireChannelRead(wrapInboundOut(.head(request)))
    }

    /// Converts one part of a response.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        codec.write(context: context, data: data, promise: promise)
    }
}
