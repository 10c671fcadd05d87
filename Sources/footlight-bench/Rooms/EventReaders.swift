import Media
import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// Open event streams, each on its own connection, that measure the delay of every time-stamped event.
final class EventReaders: Sendable {
    struct Figures: Sendable {
        /// The delays in milliseconds.
        var delays = Samples()
        /// The events of the counted name.
        var counted = 0
        /// Streams that the gateway closed.
        var ended = 0
    }

    /// The name of the events to count; nil for none.
    let countedName: String?
    private let state = Mutex(Figures())

    init(counting name: String? = nil) {
        countedName = name
    }

    var figures: Figures { state.withLock { $0 } }

    func reset() {
        state.withLock { $0 = Figures() }
    }

    /// Opens a stream; returns when the response has arrived.
    func open(_ path: String, port: Int, token: String, group: any EventLoopGroup) async throws {
        let request = """
            GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n\
            Accept: text/event-stream\r\n\r\n
            """
        let opened = group.next().makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EventStreamHandler(readers: self, opened: opened))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(string: request))
        try await opened.futureResult.get()
    }

    fileprivate func add(_ delays: [Double]) {
        state.withLock { state in
            for delay in delays { state.delays.add(delay) }
        }
    }

    fileprivate func add(counted events: Int) {
        state.withLock { $0.counted += events }
    }

    fileprivate func recordEnd() {
        state.withLock { $0.ended += 1 }
    }
}

/// Reads one event stream; an event is complete at its line break, whatever the chunks.
private final class EventStreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let readers: EventReaders
    /// The line that begins a counted event.
    private let countedLine: [UInt8]?
    private let opened: EventLoopPromise<Void>
    private var isOpen = false
    /// The bytes after the last line break.
    private var rest = ByteBuffer()

    init(readers: EventReaders, opened: EventLoopPromise<Void>) {
        self.readers = readers
        countedLine = readers.countedName.map { Array("event: \($0)".utf8) }
        self.opened = opened
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = MonotonicTime.now()
        var incoming = unwrapInboundIn(data)
        rest.writeBuffer(&incoming)
        if !isOpen {
            isOpen = true
            let text = String(buffer: rest)
            if text.hasPrefix("HTTP/1.1 200") {
                opened.succeed()
            } else {
                opened.fail(ToolFailure("an event stream was refused", log: text))
                context.close(promise: nil)
            }
        }
        guard let end = rest.readableBytesView.lastIndex(of: UInt8(ascii: "\n")) else { return }
        guard let lines = rest.readSlice(length: end + 1 - rest.readerIndex) else { return }
        rest.discardReadBytes()
        if let countedLine {
            let count = lines.readableBytesView.split(separator: UInt8(ascii: "\n")).count {
                $0.elementsEqual(countedLine)
            }
            if count > 0 { readers.add(counted: count) }
        }
        var delays: [Double] = []
        TimeStampedName.scan(lines.readableBytesView) { delays.append(now.seconds(since: $0) * 1000) }
        if !delays.isEmpty { readers.add(delays) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isOpen { opened.fail(ToolFailure("an event stream ended at once")) }
        readers.recordEnd()
    }
}

/// One participant of one room, as its event stream and its heartbeats identify it.
struct RoomMember: Sendable {
    let room: String
    let identity: String
    let session: String

    var path: String { "/v1/rooms/\(room)/participants/\(identity)" }
    var eventsPath: String { "/v1/rooms/\(room)/events?participant=\(identity)&session_id=\(session)" }
}
