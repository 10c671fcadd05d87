import FootlightTesting
import Foundation
import Media

/// What a server had used at one moment.
struct ServerReading {
    let moment: MonotonicTime
    /// Its resident memory in bytes.
    let bytes: Int
    private let used: Double
    private let kernel: Double

    init(_ name: String, pid: Int32) throws {
        guard let used = RunningProcess.processorSeconds(of: pid), let bytes = RunningProcess.residentBytes(of: pid)
        else { throw ToolFailure("\(name) is gone") }
        moment = .now()
        self.used = used
        kernel = RunningProcess.all().filter(Self.isNetworkThread).reduce(0) {
            $0 + (RunningProcess.processorSeconds(of: $1) ?? 0)
        }
        self.bytes = bytes
    }

    /// Processor milliseconds per second.
    func milliseconds(since earlier: ServerReading) -> Double {
        (used - earlier.used) * 1000 / moment.seconds(since: earlier.moment)
    }

    /// The same of the kernel's own threads for network work.
    func kernelMilliseconds(since earlier: ServerReading) -> Double {
        (kernel - earlier.kernel) * 1000 / moment.seconds(since: earlier.moment)
    }

    private static func isNetworkThread(_ pid: Int32) -> Bool {
        let name = FileManager.default.contents(atPath: "/proc/\(pid)/comm") ?? Data()
        return name.starts(with: Data("ksoftirqd/".utf8))
    }
}
