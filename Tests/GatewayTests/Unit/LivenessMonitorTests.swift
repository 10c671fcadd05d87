import ControlAPI
import FootlightTesting
import Foundation
@testable import Gateway
import Glibc
import Logging
import Media
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@Suite("Liveness of the gateway's components")
struct LivenessMonitorTests {
    /// A component that answers on request.
    private final class FakePart: Sendable {
        private let answers = Mutex<[@Sendable (String?) -> Void]>([])

        func part(_ reason: Health.Reason, fatal: Double? = nil) -> LivenessMonitor.Part {
            LivenessMonitor.Part(name: "part", reason: reason, fatal: fatal) { answer in
                self.answers.withLock { $0.append(answer) }
            }
        }

        /// - Returns: The number of pending probes.
        @discardableResult
        func answer(_ problem: String? = nil) -> Int {
            let waiting = answers.withLock { answers in
                defer { answers = [] }
                return answers
            }
            for answer in waiting { answer(problem) }
            return waiting.count
        }
    }

    /// The service manager's end of the socket.
    private final class ManagerSocket: Sendable {
        let path: String
        private let socket: Int32

        init(_ folder: TemporaryFolder) throws {
            path = folder.file("notify")
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            try #require(bytes.count < 100)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let end = socket
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(end, $0, size) }
            }
            try #require(bound == 0)
        }

        deinit { close(socket) }

        /// Returns all received datagrams.
        func read() -> [String] {
            var found: [String] = []
            var bytes = [UInt8](repeating: 0, count: 1024)
            while true {
                let count = recv(socket, &bytes, bytes.count, 0)
                guard count > 0 else { return found }
                found.append(String(decoding: bytes.prefix(count), as: UTF8.self))
            }
        }
    }

    private let folder: TemporaryFolder
    private let health = Health(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    init() throws { folder = try TemporaryFolder("alive") }

    private var names: [String] { health.readiness.reasons.map(\.name) }

    @Test("a component that is late by three seconds or has a problem is a reason until it answers without one")
    func reasons() {
        let (loop, store) = (FakePart(), FakePart())
        let monitor = LivenessMonitor(
            parts: [loop.part(.eventLoops), store.part(.store("rooms"))],
            health: health,
            manager: nil
        )
        for second in 0...2 {
            monitor.check(now: start.advanced(seconds: Double(second)))
            #expect(store.answer() == 1)
            #expect(health.isReady)
        }
        // Probed once, because the first answer is pending.
        monitor.check(now: start.advanced(seconds: 3))
        #expect(names == ["event_loops"] && health.acceptsWork)
        #expect(loop.answer() == 1)
        store.answer("disk I/O error")
        monitor.check(now: start.advanced(seconds: 4))
        #expect(health.readiness.reasons == [.init(name: "store_rooms", problem: "part: disk I/O error")])
        store.answer()
        loop.answer()
        monitor.check(now: start.advanced(seconds: 5))
        #expect(health.isReady)
    }

    @Test("notifies the service manager of readiness, and the watchdog at each check while all components answer")
    func watchdog() throws {
        let socket = try ManagerSocket(folder)
        let pid = ProcessInfo.processInfo.processIdentifier
        let variables = ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "\(pid)"]
        let manager = try #require(SystemdNotifier(environment: variables, pid: pid))
        #expect(manager.watchdogSeconds == 30)
        manager.ready()
        #expect(socket.read() == ["READY=1"])

        let loop = FakePart()
        let monitor = LivenessMonitor(parts: [loop.part(.eventLoops, fatal: 15)], health: health, manager: manager)
        monitor.check(now: start)
        #expect(socket.read() == ["WATCHDOG=1", "STATUS=ready"])
        // A third of the watchdog's 30 seconds.
        for second in 1...9 {
            monitor.check(now: start.advanced(seconds: Double(second)))
            #expect(socket.read().first == "WATCHDOG=1", "\(second)")
        }
        for second in 10...20 {
            monitor.check(now: start.advanced(seconds: Double(second)))
            #expect(!socket.read().contains("WATCHDOG=1"), "\(second)")
        }
        loop.answer()
        monitor.check(now: start.advanced(seconds: 21))
        #expect(socket.read() == ["WATCHDOG=1", "STATUS=ready"])
        // A suspension of 30 seconds does not count.
        monitor.check(now: start.advanced(seconds: 51))
        #expect(socket.read() == ["WATCHDOG=1"])
        #expect(health.isReady)
        #expect(SystemdNotifier(environment: variables, pid: pid + 1)?.watchdogSeconds == nil)
        #expect(SystemdNotifier(environment: [:], pid: pid) == nil)
    }

    @Test("detects a blocked event loop and its recovery")
    func blockedEventLoop() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let monitor = LivenessMonitor(parts: LivenessMonitor.Part.loops(of: group), health: health, manager: nil)
        let gate = DispatchSemaphore(value: 0)
        let (held, free) = (group.next(), group.next())
        held.execute { gate.wait() }
        for second in 0...4 {
            monitor.check(now: start.advanced(seconds: Double(second)))
            // The other loop has answered when it has run this task.
            try await free.submit {}.get()
        }
        let problem = health.readiness.reasons.first?.problem ?? ""
        #expect(names == ["event_loops"] && problem.contains("event loop ") && !problem.contains(";"), "\(problem)")
        gate.signal()
        #expect(
            try await eventually {
                monitor.check(now: start.advanced(seconds: 5))
                return health.isReady
            }
        )
        try await group.shutdownGracefully()
    }
}
