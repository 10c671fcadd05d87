import Glibc
import Media

/// Opens a TCP connection to one vetted address, by the deadline.
///
/// librtmp's own connect knows IPv4 only, looks names up unsafely and waits for minutes. This one never blocks: it
/// waits in `poll`, where a wake (the push was stopped) ends it too.
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
    // A size set before connecting takes part in the window the two sides agree on.
    set(socket, SOL_SOCKET, SO_SNDBUF, Int32(clamping: sendBuffer))
    set(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
    // The kernel itself gives up on a peer that vanished without a word.
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
