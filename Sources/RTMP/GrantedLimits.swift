/// The limits of one server, kept once for all its connections: a copy in each part of each would be most of what an
/// idle connection takes.
final class GrantedLimits: Sendable {
    let limits: RTMPLimits

    init(_ limits: RTMPLimits) {
        self.limits = limits
    }
}
