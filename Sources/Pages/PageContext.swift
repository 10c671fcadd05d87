public import Hummingbird
import NIOCore

/// A request's context that still knows who is at the other end, for logins are counted by address.
public struct PageContext: RequestContext {
    /// What every context has.
    public var coreContext: CoreRequestContextStorage
    /// The connection that the request came in by.
    private let channel: any Channel

    /// Takes the connection's context.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The address of the client, or of the proxy it came by.
    var peer: String? { channel.remoteAddress?.ipAddress }

    /// The context of the same request for the API.
    var basic: BasicRequestContext {
        BasicRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
    }
}
