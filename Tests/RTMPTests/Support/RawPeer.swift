import Glibc
import Media
import NIOCore
import NIOPosix

@testable import RTMP

/// A TCP connection that sends given bytes and records the response.
final class RawPeer: Sendable {
    private let channel: any Channel
    private let received = ValueRecorder<ByteBuffer>()
    private let closed = ValueRecorder<Bool>()

    init(port: Int, group: any EventLoopGroup) async throws {
        let received = received
        let closed = closed
        channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(received: received))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        channel.closeFuture.whenComplete { _ in closed.append(true) }
    }

    func send(_ bytes: ByteBuffer) async throws {
        try await channel.writeAndFlush(bytes)
    }

    /// Closes the connection, unless the server already has.
    func close() async throws {
        do { try await channel.close() } catch ChannelError.alreadyClosed {}
    }

    /// Returns whether the server closes the connection within `seconds`.
    func isClosed(within seconds: Double) async -> Bool {
        await !closed.wait(seconds: seconds) { !$0.isEmpty }.isEmpty
    }

    /// The commands received so far.
    var commands: [RTMPCommand] {
        var decoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
        var bytes = ByteBuffer()
        for part in received.values { bytes.writeImmutableBuffer(part) }
        guard bytes.readableBytes > 3073 else { return [] }
        bytes.moveReaderIndex(forwardBy: 3073)
        decoder.append(bytes)
        var commands: [RTMPCommand] = []
        while let message = try? decoder.next() {
            if message.type == MessageType.setChunkSize, let size = message.payload.number {
                try? decoder.setChunkSize(size)
            }
            if message.type == MessageType.command, let command = try? RTMPCommand(message, limits: RTMPLimits()) {
                commands.append(command)
            }
        }
        return commands
    }

    /// Waits for an `onStatus` with a code.
    func status(_ code: String, within seconds: Double = 20) async -> RTMPStatus? {
        func found() -> AMF0Object? {
            commands.compactMap { $0.argument(0)?.object }.first { $0["code"]?.string == code }
        }
        _ = await received.wait(seconds: seconds) { _ in found() != nil }
        return found().map {
            RTMPStatus(
                level: $0["level"]?.string ?? "",
                code: code,
                description: $0["description"]?.string ?? ""
            )
        }
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let received: ValueRecorder<ByteBuffer>

        init(received: ValueRecorder<ByteBuffer>) {
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.append(unwrapInboundIn(data))
        }
    }
}

/// A TCP connection that repeatedly sends the same bytes and reads only on request.
final class NonReadingPeer {
    struct Failure: Error {}

    private let socket: Int32
    private let bytes: [UInt8]
    private var position = 0

    /// Connects with small socket buffers, so that unread data soon accumulates at the server.
    ///
    /// - Parameters:
    ///   - first: The bytes sent first.
    ///   - bytes: The repeated bytes.
    init(port: Int, first: [UInt8], repeating bytes: [UInt8]) throws {
        self.bytes = bytes
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var size: Int32 = 64 << 10
        for option in [SO_RCVBUF, SO_SNDBUF] {
            setsockopt(socket, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let result = address.withSockAddr { connect(socket, $0, socklen_t($1)) }
        guard result == 0, first.withUnsafeBytes({ Glibc.send(socket, $0.baseAddress, $0.count, 0) }) == first.count
        else { throw Failure() }
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
    }

    deinit { close(socket) }

    /// Sends until the server has accepted nothing for a second, and returns the accepted byte count.
    func sendUntilBlocked(atMost maximum: Int) async throws -> Int {
        var sent = 0
        var lastAccepted = MonotonicTime.now()
        while sent < maximum, MonotonicTime.now().seconds(since: lastAccepted) < 1 {
            let count = sendSome()
            if count > 0 {
                sent += count
                lastAccepted = .now()
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        return sent
    }

    /// Reads everything while sending; returns false if the bytes were not accepted in time.
    func exchange(bytes required: Int, within seconds: Double) async throws -> Bool {
        var sent = 0
        let deadline = MonotonicTime.now().advanced(seconds: seconds)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while sent < required, MonotonicTime.now() < deadline {
            let isQuiet = recv(socket, &buffer, buffer.count, 0) <= 0
            let count = sendSome()
            sent += count
            if isQuiet, count == 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
        return sent >= required
    }

    private func sendSome() -> Int {
        let count = bytes[position...].withUnsafeBytes {
            Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return 0 }
        position = (position + count) % bytes.count
        return count
    }
}
