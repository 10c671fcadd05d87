internal import CRTMP
import Glibc
import Media
import NIOCore

/// One librtmp session over a socket, created, used and closed on the push's thread for one connection attempt.
///
/// Every library call that may block runs under the deadline of the `SocketGuard`. After a failure librtmp has already
/// closed its side, and only `close` may follow.
final class LibRTMPSession {
    let socketGuard: SocketGuard
    /// Body and header bytes passed to the library so far.
    private(set) var bytesWritten = 0
    /// Bytes the kernel accepts without blocking when its send buffer is empty.
    let capacity: Int

    private let rtmp: UnsafeMutablePointer<RTMP>
    private let configuration: PushConfiguration
    private let streamKey: String
    private var tls = c_tls()
    /// Strings that librtmp keeps pointers to.
    private var strings: [UnsafeMutablePointer<CChar>] = []
    /// Packets for the next `flush`.
    private var batch = MessageBatch()
    /// A buffer for commands: librtmp writes headers before the body and, between chunks, over it.
    private var scratch = UnsafeMutablePointer<CChar>.allocate(capacity: 64 << 10)
    private var scratchSize = 64 << 10
    private var isOpen = true
    private var reader = ServerMessageReader()
    /// The current step, for error messages.
    private var step = "the handshake"
    /// Whether `publish` was sent, so that a hang-up now counts as a refusal.
    private(set) var hasOffered = false

    private static let headroom = Int(RTMP_MAX_HEADER_SIZE)

    /// Takes ownership of a connected socket.
    init(socket: Int32, address: PushAddress, configuration: PushConfiguration) throws(PushError) {
        guard let socketGuard = SocketGuard(of: socket) else {
            _ = Glibc.close(socket)
            throw PushError(.local, "no descriptor left")
        }
        guard let rtmp = RTMP_Alloc() else {
            socketGuard.close()
            _ = Glibc.close(socket)
            throw PushError(.local, "no memory for a connection")
        }
        self.socketGuard = socketGuard
        self.rtmp = rtmp
        self.configuration = configuration
        streamKey = address.streamKey
        var size: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, &length)
        // The kernel reports twice the requested size and uses half of it for bookkeeping.
        capacity = max(16 << 10, min(Int(size) / 2, configuration.sendBuffer))

        RTMP_Init(rtmp)
        rtmp.pointee.m_sb.sb_socket = socket
        // Enables acknowledgements, as librtmp's own connect does.
        rtmp.pointee.m_bSendCounter = 1
        // The fields are set here instead of parsing a URL: librtmp's parser guesses playlists and suffixes, and a
        // stream key must reach the target unchanged.
        rtmp.pointee.Link.hostname = makeValue(address.host)
        rtmp.pointee.Link.port = address.port
        rtmp.pointee.Link.app = makeValue(address.application)
        rtmp.pointee.Link.tcUrl = makeValue(address.applicationURL)
        rtmp.pointee.Link.playpath = makeValue(address.streamKey)
        rtmp.pointee.Link.flashVer = makeValue(configuration.flashVersion)
        rtmp.pointee.Link.lFlags = RTMP_LF_LIVE
        // Without the TLS bit, since librtmp would start a TLS session of its own, without server name or verification.
        rtmp.pointee.Link.protocol = RTMP_PROTOCOL_RTMP
        RTMP_EnableWrite(rtmp)
    }

    deinit {
        close()
        scratch.deallocate()
    }

    /// Runs TLS, the RTMP handshake, `connect`, `createStream` and `publish` until the target accepts, by `deadline`.
    func open(address: PushAddress, deadline: MonotonicTime, isStopped: () -> Bool) throws(PushError) {
        socketGuard.endAll(at: deadline)
        defer { socketGuard.endAll(at: nil) }
        if isStopped() { socketGuard.shut() }
        try greet(address)
        try command("releaseStream", transaction: 2, arguments: [streamKey])
        try command("FCPublish", transaction: 3, arguments: [streamKey])
        try command("createStream", transaction: 4)
        guard let stream = try answer(to: 4).number, stream > 0, let id = Int32(exactly: stream) else {
            throw PushError(.closed, "the target made no stream for us")
        }
        rtmp.pointee.m_stream_id = id
        step = "publish"
        hasOffered = true
        try command("publish", transaction: 5, arguments: [streamKey, "live"])
        while try !nextStatus().isPublishStart {}
        try setChunkSize()
        step = "streaming"
    }

    /// Runs TLS, the RTMP handshake and `connect` until the target accepts, by `deadline`.
    ///
    /// No stream is created or published.
    func greet(address: PushAddress, deadline: MonotonicTime, isStopped: () -> Bool) throws(PushError) {
        socketGuard.endAll(at: deadline)
        defer { socketGuard.endAll(at: nil) }
        if isStopped() { socketGuard.shut() }
        try greet(address)
    }

    /// Reads the target's messages, answers pings, and throws when the target refuses the stream or closes.
    ///
    /// - Parameter isReadable: Whether `poll` reported data on the socket.
    func readMessages(isReadable: Bool) throws(PushError) {
        guard isReadable || c_tls_pending(rtmp.pointee.m_sb.sb_ssl) > 0 else { return }
        try receive()
        while try handleMessage() != nil {}
    }

    /// Appends one packet to the batch of the next `flush`.
    ///
    /// - Parameter timestamp: Milliseconds since the start of this connection; the wire carries the low 32 bits.
    func lay(_ packet: MediaPacket, timestamp: Int64) {
        let isMetadata = packet.content == .metadata
        batch.append(
            type: UInt8(
                isMetadata ? RTMP_PACKET_TYPE_INFO : packet.isVideo ? RTMP_PACKET_TYPE_VIDEO : RTMP_PACKET_TYPE_AUDIO
            ),
            channel: packet.isVideo ? 6 : 4,
            timestamp: UInt32(truncatingIfNeeded: timestamp),
            stream: rtmp.pointee.m_stream_id,
            prefix: isMetadata ? Self.setDataFrame : [],
            body: packet.body
        )
    }

    /// Bytes in the batch of the next `flush`.
    var pendingBytes: Int { batch.count }

    /// Sends the batch; blocks up to the call timeout when the kernel's buffer is too small for it.
    func flush() throws(PushError) {
        guard pendingBytes > 0 else { return }
        let isSent = socketGuard.limited(to: configuration.callLimit) {
            if rtmp.pointee.m_sb.sb_ssl == nil {
                sendAll(batch, on: socketGuard.socket)
            } else {
                sendSecurely(batch.bytes)
            }
        }
        guard isSent else { throw ended(during: "sending", as: .stalled) }
        bytesWritten += pendingBytes
        batch.removeAll()
    }

    /// Sends bytes through the TLS session.
    private func sendSecurely(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let sent = RTMPSockBuf_Send(&rtmp.pointee.m_sb, part.baseAddress, Int32(clamping: part.count))
                if sent < 0, errno == EINTR { continue }
                guard sent > 0 else { return false }
                rest = rest.dropFirst(Int(sent))
            }
            return true
        }
    }

    /// Closes the session; with `farewell`, sends the closing messages first, for that many seconds at most.
    func close(farewell: Double? = nil) {
        guard isOpen else { return }
        isOpen = false
        if let farewell {
            socketGuard.limited(to: farewell) { RTMP_Close(rtmp) }
        } else {
            socketGuard.shut()
            RTMP_Close(rtmp)
        }
        RTMP_Free(rtmp)
        // RTMP_Close has freed the session itself.
        tls.session = nil
        c_tls_free(&tls)
        for string in strings { free(string) }
        strings = []
        socketGuard.close()
    }

    // MARK: - Steps

    private func greet(_ address: PushAddress) throws(PushError) {
        if address.scheme == .rtmps { try secure(host: address.host) }
        try performHandshake()
        let connect = [
            ("app", address.application), ("type", "nonprivate"), ("flashVer", configuration.flashVersion),
            ("tcUrl", address.applicationURL),
        ]
        try command("connect", transaction: 1, object: connect)
        _ = try answer(to: 1)
    }

    private func secure(host: String) throws(PushError) {
        let isName = NetworkAddress(literal: host, port: 0) == nil
        guard let name = strdup(host) else { throw PushError(.local, "no memory for a name") }
        strings.append(name)
        var why = [CChar](repeating: 0, count: 256)
        let result = c_tls_connect(
            &tls,
            rtmp.pointee.m_sb.sb_socket,
            name,
            isName ? 1 : 0,
            configuration.trustFile,
            &why,
            why.count
        )
        if result == Int32(C_TLS_OK) {
            rtmp.pointee.m_sb.sb_ssl = UnsafeMutableRawPointer(tls.session)
            c_tls_never_wait(rtmp.pointee.m_sb.sb_ssl)
            return
        }
        if socketGuard.isShut { throw PushError(.timedOut, "the TLS handshake took too long") }
        let reason = String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        switch result {
        case Int32(C_TLS_CERTIFICATE):
            throw PushError(.insecure, "the certificate of \(host) is not trusted: \(reason)")
        case Int32(C_TLS_HANDSHAKE): throw PushError(.closed, "no TLS with \(host): \(reason)")
        default: throw PushError(.local, "no TLS: \(reason)")
        }
    }

    /// Sends a Set Chunk Size message, for which librtmp has no call, and sets librtmp's own value.
    private func setChunkSize() throws(PushError) {
        var message = RTMPPacket()
        let body = scratch + Self.headroom
        withUnsafeBytes(of: Int32(MessageBatch.chunkSize).bigEndian) { size in
            UnsafeMutableRawBufferPointer(start: body, count: 4).copyMemory(from: size)
        }
        message.m_headerType = UInt8(RTMP_PACKET_SIZE_LARGE)
        message.m_packetType = UInt8(RTMP_PACKET_TYPE_CHUNK_SIZE)
        message.m_nChannel = 2
        message.m_nBodySize = 4
        message.m_body = body
        try hand(over: &message)
        rtmp.pointee.m_outChunkSize = Int32(MessageBatch.chunkSize)
    }

    private func hand(over message: inout RTMPPacket) throws(PushError) {
        let size = Int(message.m_nBodySize)
        let isSent = socketGuard.limited(to: configuration.callLimit) { RTMP_SendPacket(rtmp, &message, 0) != 0 }
        guard isSent else { throw ended(during: "sending", as: .stalled) }
        bytesWritten += size + 12 + size / MessageBatch.chunkSize
    }

    // MARK: - Reading

    /// Performs the plain handshake (Adobe RTMP specification 1.0, 5.2).
    ///
    /// librtmp's reader is not used: it is not memory-safe against a hostile peer, and it treats TLS control records as
    /// the end of the stream.
    private func performHandshake() throws(PushError) {
        let half = 1536
        var hello = [UInt8](repeating: 0, count: 1 + half)
        hello[0] = 3
        for index in 9..<hello.count { hello[index] = UInt8.random(in: 0...255) }
        try write(hello)
        while true {
            if let answer = reader.removeRaw(1 + 2 * half) {
                guard answer[0] == 3 else { throw PushError(.closed, "the target does not speak plain RTMP") }
                return try write(Array(answer[1...half]))
            }
            try waitAndReceive()
        }
    }

    private func write(_ bytes: [UInt8]) throws(PushError) {
        let sent = bytes.withUnsafeBytes { RTMPSockBuf_Send(&rtmp.pointee.m_sb, $0.baseAddress, Int32($0.count)) }
        guard Int(sent) == bytes.count else { throw ended(during: step, as: .timedOut) }
    }

    /// Reads available bytes without waiting, at most 64 KiB per call.
    private func receive() throws(PushError) {
        let isOpen = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
            for _ in 0..<16 {
                let count = c_connection_receive(
                    socketGuard.socket,
                    rtmp.pointee.m_sb.sb_ssl,
                    bytes.baseAddress,
                    bytes.count
                )
                if count == 0 { return false }
                if count < 0 { return count == C_RECEIVE_LATER }
                reader.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                if count < bytes.count { return true }
            }
            return true
        }
        guard isOpen else { throw ended(during: step, as: .timedOut) }
    }

    /// Handles the next complete message; returns nil when there is none.
    private func handleMessage() throws(PushError) -> ServerStatus?? {
        let message: ServerMessageReader.Message?
        do {
            message = try reader.next()
        } catch {
            throw PushError(.closed, "the target does not speak RTMP as it should")
        }
        guard let message else { return nil }
        switch Int32(message.type) {
        case RTMP_PACKET_TYPE_CONTROL where message.body.count >= 6 && message.body[0] == 0 && message.body[1] == 6:
            // A ping; the answer echoes its timestamp.
            let time = message.body[2..<6].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let isSent = socketGuard.limited(to: configuration.callLimit) { RTMP_SendCtrl(rtmp, 7, time, 0) != 0 }
            guard isSent else { throw ended(during: step, as: .stalled) }
        case RTMP_PACKET_TYPE_INVOKE:
            let status = message.body.withUnsafeBytes { ServerStatus($0) }
            if let status, status.isRefusal || status.isError && [1, 4, 5].contains(status.transaction) {
                throw .refusedExplicitly(
                    "the target refused the stream: \(cleaned(status.summary))",
                    statusCode: status.code
                )
            }
            return .some(status)
        default: break
        }
        return .some(nil)
    }

    /// Waits for the next command message; the connection's deadline bounds the wait.
    private func nextStatus() throws(PushError) -> ServerStatus {
        while true {
            while let handled = try handleMessage() {
                if let status = handled { return status }
            }
            try waitAndReceive()
        }
    }

    private func waitAndReceive() throws(PushError) {
        if c_tls_pending(rtmp.pointee.m_sb.sb_ssl) == 0 {
            var readable = pollfd(fd: socketGuard.socket, events: Int16(POLLIN), revents: 0)
            // A socket that was shut down counts as readable.
            _ = poll(&readable, 1, 1000)
        }
        try receive()
    }

    private func answer(to transaction: Int) throws(PushError) -> ServerStatus {
        while true {
            let status = try nextStatus()
            if status.transaction == transaction, status.command == "_result" { return status }
        }
    }

    /// Sends a command with its object, or null, and string arguments.
    private func command(
        _ name: String,
        transaction: Double,
        object: [(String, String)] = [],
        arguments: [String] = []
    ) throws(PushError) {
        func bare(_ text: String) -> [UInt8] {
            [UInt8(truncatingIfNeeded: text.utf8.count >> 8), UInt8(truncatingIfNeeded: text.utf8.count)] + text.utf8
        }
        func string(_ text: String) -> [UInt8] { [0x02] + bare(text) }
        let number = (0..<8).map { UInt8(truncatingIfNeeded: transaction.bitPattern >> (56 - 8 * $0)) }
        var bytes: [UInt8] = string(name) + [0x00] + number
        if object.isEmpty {
            bytes.append(0x05)
        } else {
            bytes.append(0x03)
            for (name, value) in object { bytes += bare(name) + string(value) }
            bytes += [0x00, 0x00, 0x09]
        }
        bytes += arguments.flatMap(string)
        reserve(bytes.count)
        let body = scratch + Self.headroom
        UnsafeMutableRawBufferPointer(start: body, count: bytes.count).copyBytes(from: bytes)
        var message = RTMPPacket()
        message.m_headerType = UInt8(RTMP_PACKET_SIZE_LARGE)
        message.m_packetType = UInt8(RTMP_PACKET_TYPE_INVOKE)
        message.m_nChannel = 3
        message.m_nInfoField2 = name == "publish" ? rtmp.pointee.m_stream_id : 0
        message.m_nBodySize = UInt32(bytes.count)
        message.m_body = body
        try hand(over: &message)
    }

    /// Returns the error of a failed call; librtmp reports no reason.
    private func ended(during step: String, as overdue: PushError.Code) -> PushError {
        socketGuard.isShut
            ? PushError(overdue, "the target took too long during \(step)")
            : PushError(.closed, "the target closed the connection during \(step)")
    }

    /// Masks the stream key, which the text of a peer may contain.
    private func cleaned(_ text: String) -> String {
        text.split(separator: streamKey, omittingEmptySubsequences: false).joined(separator: "****")
    }

    private func makeValue(_ text: String) -> AVal {
        guard let copy = strdup(text) else { return AVal() }
        strings.append(copy)
        return AVal(av_val: copy, av_len: Int32(text.utf8.count))
    }

    private func reserve(_ size: Int) {
        guard size + Self.headroom > scratchSize else { return }
        scratch.deallocate()
        scratchSize = size + Self.headroom + size / 2
        scratch = .allocate(capacity: scratchSize)
    }

    /// The AMF0 string `@setDataFrame`, which tells a server to store the metadata that follows.
    private static let setDataFrame: [UInt8] = [0x02, 0x00, 0x0D] + Array("@setDataFrame".utf8)
}
