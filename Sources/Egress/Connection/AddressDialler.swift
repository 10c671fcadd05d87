import Media

/// Finds the way to an address: asks for its name, vets what that leads to, and connects to what answers first.
struct AddressDialler {
    let policy: TargetPolicy
    let configuration: PushConfiguration
    let wake: WakeSignal
    let isStopped: @Sendable () -> Bool
    private let resolver = NameResolver()

    init(
        policy: TargetPolicy,
        configuration: PushConfiguration,
        wake: WakeSignal,
        isStopped: @escaping @Sendable () -> Bool
    ) {
        self.policy = policy
        self.configuration = configuration
        self.wake = wake
        self.isStopped = isStopped
    }

    /// Connects to the first of the host's addresses that answers, all of them vetted before any is tried.
    ///
    /// - Returns: A blocking, connected socket that the caller closes.
    func dial(_ address: PushAddress, by deadline: MonotonicTime) throws(PushError) -> Int32 {
        try policy.check(address)
        let candidates =
            if let resolve = configuration.resolve {
                try resolve(address.host, address.port, deadline)
            } else {
                try resolver.resolve(address.host, port: address.port, deadline: deadline, isStopped: isStopped)
            }
        try policy.check(candidates, of: address.host)
        var last = PushError(.unreachable, "\(address.host) has no address")
        for candidate in candidates {
            let limit = MonotonicTime.now().advanced(seconds: configuration.dialDeadline)
            do throws(PushError) {
                return try Egress.dial(
                    candidate,
                    sendBuffer: configuration.sendBuffer,
                    progressLimit: configuration.progressLimit,
                    deadline: min(limit, deadline),
                    wake: wake,
                    isStopped: isStopped
                )
            } catch {
                last = error
            }
            if isStopped() || MonotonicTime.now() >= deadline { break }
        }
        throw last
    }
}
