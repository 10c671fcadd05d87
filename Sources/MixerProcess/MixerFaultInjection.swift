#if DEBUG
import CSeccomp
import Foundation
import Glibc
import Logging
import Media
import NIOCore
import Synchronization

/// Simulates compromised code in a mixer, or a decoder that crashes or hangs; in debug builds only.
///
/// `FOOTLIGHT_MIXER_MISBEHAVE` in the gateway's environment selects the action; SIGUSR2 to a mixer triggers it.
enum MixerFaultInjection {
    private static let variable = "FOOTLIGHT_MIXER_MISBEHAVE"
    private static let isTriggered = Atomic<Bool>(false)
    /// The exit status if the action was refused and nothing else ended the process.
    private static let refusedStatus: Int32 = 96

    /// Waits for the signal on a thread of its own.
    static func arm(_ logger: Logger) {
        guard let action = ProcessInfo.processInfo.environment[variable] else { return }
        isTriggered.store(false, ordering: .relaxed)
        signal(SIGUSR2) { _ in MixerFaultInjection.isTriggered.store(true, ordering: .relaxed) }
        guard marker == nil else { return }
        _ = WorkerThread(name: "fault-injection") {
            while !isTriggered.load(ordering: .relaxed) { usleep(20_000) }
            let outcome = perform(action)
            let metadata: Logger.Metadata = ["action": "\(action)", "outcome": "\(outcome)"]
            logger.error("an injected action was performed", metadata: metadata)
            exit(refusedStatus)
        }
    }

    /// The bytes that mark a keyframe whose decoding crashes (`fault`) or hangs (`stall`).
    private static let marker: (text: String, stalls: Bool)? = {
        let parts = ProcessInfo.processInfo.environment[variable]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0] == "fault" || parts[0] == "stall" else { return nil }
        return (String(parts[1]), parts[0] == "stall")
    }()

    /// Replaces the body of a marked keyframe with unreadable memory, so that its decoder faults, or hangs in the
    /// handler of the fault.
    static func faulty(_ packet: MediaPacket) -> MediaPacket {
        guard let marker, packet.isKeyframe, isTriggered.load(ordering: .relaxed),
            String(decoding: packet.body.readableBytesView, as: UTF8.self).contains(marker.text)
        else { return packet }
        if marker.stalls { signal(SIGSEGV) { _ in while true { pause() } } }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        var packet = packet
        var body = ByteBuffer()
        body.writeImmutableBuffer(packet.body)
        // Large enough for pages of its own; half of them become unreadable.
        body.writeRepeatingByte(0, count: 1 << 20)
        body.withUnsafeReadableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            let first = (UInt(bitPattern: start) / UInt(page) + 1) * UInt(page)
            mprotect(UnsafeMutableRawPointer(bitPattern: first), 1 << 19, PROT_NONE)
        }
        packet.body = body
        return packet
    }

    /// Returns the outcome of a call's status.
    private static func outcome(_ status: Int32) -> String {
        status == 0 ? "done" : "refused: \(String(cString: strerror(errno)))"
    }

    /// - Returns: The outcome of the action.
    private static func perform(_ action: String) -> String {
        let parts = action.split(separator: " ", maxSplits: 1).map(String.init)
        let argument = parts.count > 1 ? parts[1] : ""
        switch parts.first {
        case "read":
            let marks = ProcessInfo.processInfo.environment[MixerEnvironment.markers] ?? ""
            let file = open(URL(fileURLWithPath: marks).deletingLastPathComponent().path + "/" + argument, O_RDONLY)
            return outcome(file < 0 ? file : 0)
        case "exec":
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            execv("/bin/true", &arguments)
            return "refused: \(String(cString: strerror(errno)))"
        case "fork":
            var child = pid_t()
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            let status = posix_spawn(&child, "/bin/true", nil, nil, &arguments, nil)
            return status == 0 ? "done" : "refused: \(String(cString: strerror(status)))"
        case "connect":
            let end = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let port = Int(UInt16(argument) ?? 0)
            guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: port) else { return "no address" }
            let status = address.withSockAddr { connect(end, $0, socklen_t($1)) }
            return outcome(status)
        case "limit":
            // The Glibc module does not export prlimit.
            typealias SetLimit =
                @convention(c) (pid_t, CInt, UnsafePointer<rlimit>, UnsafeMutablePointer<rlimit>?) ->
                CInt
            guard let symbol = dlsym(nil, "prlimit") else { return "no prlimit" }
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            return outcome(unsafeBitCast(symbol, to: SetLimit.self)(getppid(), CInt(RLIMIT_CORE.rawValue), &limit, nil))
        case "kill": return outcome(kill(getppid(), SIGTERM))
        case "priority": return outcome(setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(getppid()), 19))
        case "owner":
            let end = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            return outcome(fcntl(end, F_SETOWN, getppid()))
        case "allocate":
            var total = 0
            while let memory = malloc(64 << 20) {
                memset(memory, 1, 64 << 20)
                total += 64
            }
            return "refused after \(total) MiB"
        default: return "not known"
        }
    }
}
#endif
