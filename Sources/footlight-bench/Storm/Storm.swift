import Foundation
import Glibc
import Media
import Synchronization
import TestSupport

/// Viewers that all join within a few seconds and stay, on one thread.
///
/// Until its first keyframe each is read as soon as data arrives; from then on as the viewers of a `Crowd`.
final class Storm: Sendable {
    private struct Viewer {
        let socket: Int32
        /// The bytes that it sends regularly.
        let keepAlive: [UInt8]?
    }

    private struct Joiner {
        let began: MonotonicTime
        let method: JoinMethod
        var scanner: any StreamScanner
        var isConnected = false
        /// Bytes of the server's handshake response still to be received before the request is sent.
        var answer: Int
    }

    /// Seconds after the last join within which viewers may still get their first frame.
    private static let firstFrameTimeout = 10.0
    private static let sweep: Int64 = 200

    /// Sweeps between two of a viewer's regular requests.
    private static let keepAliveSweeps = 10

    private let methods: [JoinMethod]
    private let size: Int
    private let duration: Double
    private let figures = Mutex(StormFigures())
    private let joined = Atomic(false)
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Joins the viewers, evenly over `seconds`, by each method in turn.
    init(of size: Int, by methods: [JoinMethod], within seconds: Double) {
        self.size = size
        self.methods = methods
        duration = seconds
        Thread.detachNewThread {
            self.run()
            self.hasEnded.signal()
        }
    }

    /// Whether all viewers have joined, and have a frame or were refused.
    var isOver: Bool { joined.load(ordering: .relaxed) }

    /// The results so far.
    var result: StormFigures { figures.withLock { $0 } }

    /// Disconnects all viewers; called once.
    func leave() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
    }

    private func run() {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        var joiners: [Int32: Joiner] = [:]
        var watching: [Viewer] = []
        var sweeps = 0
        defer {
            for socket in watching.map(\.socket) + Array(joiners.keys) { close(socket) }
            scratch.deallocate()
        }
        let start = MonotonicTime.now()
        var begun = 0
        var nextSweep = start
        while !isStopped.load(ordering: .relaxed) {
            let now = MonotonicTime.now()
            let elapsed = now.seconds(since: start)
            while begun < min(size, Int(Double(size) * elapsed / duration) + 1) {
                begin(methods[begun % methods.count], &joiners)
                begun += 1
            }
            for socket in ready(joiners, within: begun < size || !joiners.isEmpty ? 1 : 50) {
                guard let isDone = serve(socket, scratch, &joiners) else { continue }
                let joiner = joiners.removeValue(forKey: socket)
                if isDone {
                    watching.append(Viewer(socket: socket, keepAlive: joiner?.scanner.keepAlive))
                } else {
                    close(socket)
                }
            }
            if begun == size, !isOver, joiners.isEmpty || elapsed > duration + Self.firstFrameTimeout {
                figures.withLock {
                    $0.failed += joiners.count
                    $0.lasted = elapsed
                }
                joined.store(true, ordering: .relaxed)
            }
            if now >= nextSweep {
                drain(&watching, scratch, turn: sweeps % Self.keepAliveSweeps)
                sweeps += 1
                nextSweep = now.advanced(milliseconds: Self.sweep)
            }
        }
    }

    private func begin(_ method: JoinMethod, _ joiners: inout [Int32: Joiner]) {
        guard let socket = try? ViewerSocket.begin(port: method.port) else {
            figures.withLock { $0.failed += 1 }
            return
        }
        joiners[socket] = Joiner(
            began: .now(),
            method: method,
            scanner: method.scanner(),
            answer: method.dialogue.responseLength
        )
    }

    /// Returns the joiners that are now connected, or have data to read.
    private func ready(_ joiners: [Int32: Joiner], within milliseconds: Int32) -> [Int32] {
        var descriptors = joiners.map { socket, joiner in
            pollfd(fd: socket, events: Int16(joiner.isConnected ? POLLIN : POLLOUT), revents: 0)
        }
        guard poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0 else { return [] }
        return descriptors.filter { $0.revents != 0 }.map(\.fd)
    }

    /// - Returns: Whether the joiner stays as a viewer; nil while it is still joining.
    private func serve(
        _ socket: Int32,
        _ scratch: UnsafeMutableRawBufferPointer,
        _ joiners: inout [Int32: Joiner]
    ) -> Bool? {
        guard var joiner = joiners[socket] else { return nil }
        if !joiner.isConnected {
            joiner.isConnected = true
            joiners[socket] = joiner
            guard (try? ViewerSocket.send(joiner.method.dialogue.opening, on: socket)) != nil else { return fail() }
            return nil
        }
        defer { joiners[socket] = joiner }
        while true {
            let byteCount = recv(socket, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
            if byteCount < 0, errno == EAGAIN || errno == EINTR { return nil }
            guard byteCount > 0 else { return fail() }
            if joiner.answer > 0 {
                joiner.answer -= byteCount
                let isAnswered = joiner.answer <= 0
                if isAnswered, (try? ViewerSocket.send(joiner.method.dialogue.request, on: socket)) == nil {
                    return fail()
                }
            }
            let result = joiner.scanner.scan(UnsafeRawBufferPointer(rebasing: scratch[..<byteCount]))
            switch result {
            case .keyframe?:
                let wait = MonotonicTime.now().seconds(since: joiner.began) * 1000
                figures.withLock { $0.waits[joiner.method.name, default: Samples()].add(wait) }
                return true
            case .refused?:
                figures.withLock { $0.refused += 1 }
                return false
            case .send(let question)?:
                guard (try? ViewerSocket.send(question, on: socket)) != nil else { return fail() }
            case nil: continue
            }
        }
    }

    private func fail() -> Bool {
        figures.withLock { $0.failed += 1 }
        return false
    }

    /// - Parameter turn: Selects the viewers that send their regular request.
    private func drain(_ watching: inout [Viewer], _ scratch: UnsafeMutableRawBufferPointer, turn: Int) {
        var closed: Set<Int32> = []
        for viewer in watching {
            let socket = viewer.socket
            if let keepAlive = viewer.keepAlive, Int(socket) % Self.keepAliveSweeps == turn {
                guard (try? ViewerSocket.send(keepAlive, on: socket)) != nil else {
                    closed.insert(socket)
                    continue
                }
            }
            let byteCount = recv(socket, scratch.baseAddress, 1 << 20, Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC))
            if byteCount == 0 || (byteCount < 0 && errno != EAGAIN && errno != EINTR) { closed.insert(socket) }
        }
        guard !closed.isEmpty else { return }
        watching.removeAll { closed.contains($0.socket) }
        for socket in closed { close(socket) }
        figures.withLock { $0.closed += closed.count }
    }
}

/// The method by which a part of a storm joins.
struct JoinMethod: Sendable {
    let name: String
    let port: Int
    let dialogue: PlayHandshake
    let scanner: @Sendable () -> any StreamScanner

    /// Joins by the server's streaming protocol, RTMP or HTTP-FLV.
    init(_ server: MediaServer) {
        name = server.playback.rawValue
        port = server.viewerPort
        dialogue = server.dialogue
        scanner =
            switch server.playback {
            case .rtmp: { RTMPScanner() }
            case .flv: { FLVScanner() }
            }
    }

    /// Joins by HLS, with one request after the other.
    init(hlsOf server: MediaServer) {
        let room = server.stream
        name = "hls"
        port = server.httpPort ?? server.port
        let question = HTTPExchange.request("/live/\(room)/index.m3u8")
        dialogue = PlayHandshake(opening: question, responseLength: 0, request: [])
        scanner = { HLSScanner(room: room) }
    }
}

/// The results of a storm.
struct StormFigures: Sendable {
    /// Milliseconds from the start of the connection to the last byte of the first keyframe, by join method.
    var waits: [String: Samples] = [:]
    /// Viewers refused for lack of capacity.
    var refused = 0
    /// Viewers disconnected without a response, or never connected.
    var failed = 0
    /// Viewers disconnected after their first frame.
    var closed = 0
    /// Seconds from the first join to the last viewer's first frame.
    var lasted = 0.0
}

/// The gateway's metrics and memory at one moment.
struct StormState {
    private let metrics: [String: Double]
    private let resident: Int
    private let kernel: Int

    init(_ gateway: GatewayProcess) async throws {
        let reply = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics")
        var metrics: [String: Double] = [:]
        for line in reply.text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Double(words[1]) else { continue }
            metrics[String(words[0].prefix { $0 != "{" }), default: 0] += value
        }
        self.metrics = metrics
        resident = RunningProcess.residentBytes(of: gateway.endpoints.pid) ?? 0
        kernel = Self.kernelBytes
    }

    /// Proven viewers, as the gateway counts them.
    var joins: Int { Int(metrics["footlight_viewer_joins_total"] ?? 0) }

    /// Returns one row of a table.
    func row(_ name: String, gap: Double) -> [String] {
        func mebibytes(_ bytes: Double) -> String { (bytes / 1_048_576).text(1) }
        func value(_ name: String) -> Double { metrics["footlight_fanout_" + name] ?? .nan }
        return [
            name, gap.text(1), value("viewers").text(0), mebibytes(Double(resident)), mebibytes(Double(kernel)),
            mebibytes(value("total_cached_bytes")), mebibytes(value("total_queued_bytes")),
            value("skips_total").text(0),
            value("closed_slow_total").text(0), value("refused_total").text(0),
        ]
    }

    /// Memory of all TCP sockets of the machine, both ends of every connection here (`/proc/net/sockstat`, in pages).
    private static var kernelBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/net/sockstat", encoding: .utf8)) ?? ""
        let words = text.split(separator: "\n").first { $0.hasPrefix("TCP:") }?.split(separator: " ") ?? []
        guard let index = words.firstIndex(of: "mem"), index + 1 < words.count else { return 0 }
        return (Int(words[index + 1]) ?? 0) * 4096
    }
}
