import Egress
import FootlightTesting
import Foundation
import Glibc
import Media
import Stage
import Synchronization
import TestSupport

/// The minimum system cost of one output: a thread that wakes at an interval and writes its share of the bytes to a
/// socket whose other end is read.
///
/// No program that sends as often can be much cheaper, so an output's cost is shown beside it.
final class PushBaseline: Sendable {
    private let result = Mutex(0.0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Returns processor milliseconds per second.
    ///
    /// - Parameter interval: Milliseconds from write to write.
    static func measure(kilobits: Double, interval: Int, seconds: Int) throws -> Double {
        var ends: [Int32] = [0, 0]
        guard loopbackPair(&ends) else {
            throw ToolFailure("no pair of sockets", log: String(cString: strerror(errno)))
        }
        let (writer, reader) = (ends[0], ends[1])
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            while recv(reader, &bytes, bytes.count, 0) > 0 {}
            close(reader)
        }
        let baseline = PushBaseline()
        let bytes = Int(kilobits / 8) * interval
        Thread.detachNewThread { baseline.run(writer, bytes: bytes, interval: Int64(interval), seconds: seconds) }
        baseline.hasEnded.wait()
        close(writer)
        return baseline.result.withLock { $0 }
    }

    private func run(_ socket: Int32, bytes: Int, interval: Int64, seconds: Int) {
        let payload = [UInt8](repeating: 0, count: bytes)
        let start = MonotonicTime.now()
        let before = Self.threadSeconds()
        for index in 0..<Int64(seconds) * 1000 / interval {
            sleepUntil(start.advanced(milliseconds: index * interval))
            _ = send(socket, payload, payload.count, Int32(MSG_NOSIGNAL))
        }
        let used = Self.threadSeconds() - before
        result.withLock { $0 = used * 1000 / Double(seconds) }
        hasEnded.signal()
    }

    private static func threadSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Makes the two ends of one TCP connection over loopback, because an output's cost is that of TCP.
    private static func loopbackPair(_ ends: inout [Int32]) -> Bool {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, type, 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener, address, length) == 0, listen(listener, 1) == 0,
                    getsockname(listener, address, &length) == 0
                else { return false }
                ends[0] = socket(AF_INET, type, 0)
                guard connect(ends[0], address, length) == 0 else { return false }
                ends[1] = accept(listener, nil, nil)
                return ends[1] >= 0
            }
        }
    }
}

extension RTMPPush {
    /// Waits until the output is connected.
    ///
    /// - Throws: `ToolFailure` after ten seconds.
    func waitUntilConnected() async throws {
        guard try await eventually(within: .seconds(10), { self.status.state == .connected }) else {
            throw ToolFailure("the output does not connect: \(status)")
        }
    }
}
