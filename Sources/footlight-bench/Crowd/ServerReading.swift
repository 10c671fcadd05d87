import FootlightTesting
import Glibc
import Media

/// What a server had used at one moment.
struct ServerReading {
    let moment: MonotonicTime
    /// Its resident memory in bytes.
    let bytes: Int
    private let used: Double
    /// Processor seconds of this program, and those in which no processor of the machine worked.
    private let own: Double
    private let idle: Double

    init(_ name: String, pid: Int32) throws {
        guard let used = RunningProcess.processorSeconds(of: pid), let bytes = RunningProcess.residentBytes(of: pid)
        else { throw ToolFailure("\(name) is gone") }
        guard let own = RunningProcess.processorSeconds(of: getpid()), let idle = RunningProcess.idleSeconds()
        else { throw ToolFailure("the system does not tell how busy it is") }
        (self.own, self.idle) = (own, idle)
        moment = .now()
        self.used = used
        self.bytes = bytes
    }

    /// Processor milliseconds per second.
    func milliseconds(since earlier: ServerReading) -> Double {
        (used - earlier.used) * 1000 / moment.seconds(since: earlier.moment)
    }

    /// The same of all that worked beside the server and this program.
    ///
    /// What is sent when an acknowledgement or a pacing timer allows it, not when the server writes, is sent in an interrupt
    /// and billed to whoever runs just then, mostly to nobody: that is here, and with it the receivers' half of all.
    func restMilliseconds(since earlier: ServerReading) -> Double {
        let time = moment.seconds(since: earlier.moment)
        let busy = time * Double(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - (idle - earlier.idle)
        return (busy - (used - earlier.used) - (own - earlier.own)) * 1000 / time
    }
}
