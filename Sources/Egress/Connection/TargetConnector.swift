import Glibc
import Media

/// Connects to a push address: resolves the host, checks the addresses and connects to the first that answers.
struct TargetConnector {
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

    /// Connects to the first of the host's addresses that answers, after checking all of them.
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

/// Opens a TCP connection to one checked address, by the deadline.
///
/// librtmp's own connect supports only IPv4, resolves names unsafely and blocks for minutes. This function waits in
/// `poll`, which a wake signal (the push was stopped) ends too.
///
/// - Returns: A blocking, connected socket that the caller closes.
func dial(
    _ address: NetworkAddress,
    sendBuffer: Int,
    progressLimit: Double,
    deadline: MonotonicTime,
    wake: WakeSignal,
    isStopped: () -> Bool
) throws(PushError) -> Int32 {
    let family = address.isIPv6 ? AF_INET6 : AF_INET
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = Glibc.socket(family, kind, Int32(IPPROTO_TCP))
    guard socket >= 0 else { throw PushError.system(.local, "no socket", errno: errno) }
    // Set before connecting, because the size affects window scaling.
    set(socket, SOL_SOCKET, SO_SNDBUF, Int32(clamping: sendBuffer))
    set(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
    // The kernel drops the connection to a peer that vanished.
    set(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int32(clamping: Int(progressLimit * 2000)))

    do throws(PushError) {
        try connect(socket, to: address, deadline: deadline, wake: wake, isStopped: isStopped)
    } catch {
        close(socket)
        throw error
    }
    _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK)
    return socket
}

private func connect(
    _ socket: Int32,
    to address: NetworkAddress,
    deadline: MonotonicTime,
    wake: WakeSignal,
    isStopped: () -> Bool
) throws(PushError) {
    let status = address.withSocketAddress { Glibc.connect(socket, $0, $1) }
    if status == 0 { return }
    guard errno == EINPROGRESS else { throw PushError.system(.unreachable, "\(address)", errno: errno) }
    while true {
        let remaining = deadline.seconds(since: .now())
        guard remaining > 0 else { throw PushError(.timedOut, "\(address) did not answer in time") }
        let ready = wake.wait(
            socket: socket,
            writable: true,
            readable: false,
            milliseconds: Int32(clamping: Int(remaining * 1000) + 1)
        )
        if isStopped() { throw PushError(.local, "stopped") }
        if ready.isWoken { wake.clear() }
        guard ready.isWritable else { continue }
        var fault: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &fault, &size)
        guard fault == 0 else { throw PushError.system(.unreachable, "\(address)", errno: fault) }
        return
    }
}

private func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
}
