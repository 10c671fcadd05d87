#if DEBUG
import CSeccomp
import Foundation
import Glibc
import Logging
import Media
import NIOCore
import Synchronization

/// Does, in builds for tests only, what code that has taken hold of a mixer would do, or has a decoder fault or
/// hang.
///
/// `FOOTLIGHT_MIXER_MISBEHAVE` in the gateway's environment says what; SIGUSR2 to a mixer has it done there.
enum MixerMisbehaviour {
    private static let variable = "FOOTLIGHT_MIXER_MISBEHAVE"
    private static let isWanted = Atomic<Bool>(false)
    /// With what the process ends when what it tried was refused and nothing else ended it.
    private static let refusedStatus: Int32 = 96

    /// Waits for the signal, on a thread of its own.
    static func arm(_ logger: Logger) {
        guard let deed = ProcessInfo.processInfo.environment[variable] else { return }
        isWanted.store(false, ordering: .relaxed)
        signal(SIGUSR2) { _ in MixerMisbehaviour.isWanted.store(true, ordering: .relaxed) }
        guard marker == nil else { return }
        Thread.detachNewThread {
            while !isWanted.load(ordering: .relaxed) { usleep(20_000) }
            let outcome = perform(deed)
            logger.error("a forbidden deed was tried", metadata: ["deed": "\(deed)", "outcome": "\(outcome)"])
            exit(refusedStatus)
        }
    }

    /// The bytes in a key picture at which its decoder is to fault or to hang: what `fault` or `stall` is followed by.
    private static let marker: (text: String, stalls: Bool)? = {
        let parts = ProcessInfo.processInfo.environment[variable]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0] == "fault" || parts[0] == "stall" else { return nil }
        return (String(parts[1]), parts[0] == "stall")
    }()

    /// Makes a picture that has the marker in it one whose data is not there: whoever reads it to decode it faults, and
    /// never comes back from the fault where it is to hang.
    static func faulty(_ packet: MediaPacket) -> MediaPacket {
        guard let marker, packet.isKeyPicture, isWanted.load(ordering: .relaxed),
            String(decoding: packet.body.readableBytesView, as: UTF8.self).contains(marker.text)
        else { return packet }
        if marker.stalls { signal(SIGSEGV) { _ in while true { pause() } } }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        var packet = packet
        var body = ByteBuffer()
        body.writeImmutableBuffer(packet.body)
        // Large enough for pages of its own, of which all but the first become unreadable.
        body.writeRepeatingByte(0, count: 1 << 20)
        body.withUnsafeReadableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            let first = (UInt(bitPattern: start) / UInt(page) + 1) * UInt(page)
            mprotect(UnsafeMutableRawPointer(bitPattern: first), 1 << 19, PROT_NONE)
        }
        packet.body = body
        return packet
    }

    /// What a call's status means, in words.
    private static func outcome(_ status: Int32) -> String {
        status == 0 ? "done" : "refused: \(String(cString: strerror(errno)))"
    }

    /// - Returns: What became of it, in words.
    private static func perform(_ deed: String) -> String {
        let parts = deed.split(separator: " ", maxSplits: 1).map(String.init)
        let argument = parts.count > 1 ? parts[1] : ""
        switch parts.first {
        case "read":
            let marks = ProcessInfo.processInfo.environment[RoomMixer.marksVariable] ?? ""
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
            // Glibc's module does not show prlimit.
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
