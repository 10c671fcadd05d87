public import Hummingbird
import NIOCore

/// A request's context that still knows who is at the other end, for logins are counted by address.
public struct PageContext: RequestContext {
    /// What every context has.
    public var coreContext: CoreRequestContextStorage
    /// Where the request came in.
    let source: ApplicationRequestContextSource

    /// Takes the connection's context.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        self.source = source
    }

    /// The address of the client, or of the proxy it came by.
    var peer: String? { source.channel.remoteAddress?.ipAddress }
}
