import CSeccomp
import Foundation
import Glibc
import Logging

/// Holds a mixer process to what it needs, whatever the media it decodes make of it.
///
/// A mixer decodes what strangers send. Nothing that takes hold of it there may start programs, read the gateway's keys,
/// connect anywhere but to the gateway, or take the machine's memory. Kernels that lack a part of this are named in the log.
public enum MixerConfinement {
    /// How much is wanted, in the environment: `on`, `required` or `off`.
    static let variable = "FOOTLIGHT_MIXER_CONFINEMENT"
    /// MiB of memory that a mixer may fill, in the environment; 0 is no limit.
    static let memoryVariable = "FOOTLIGHT_MIXER_MEMORY"
    /// Names of `mixer.confinement`.
    static let levels = ["on", "required", "off"]

    /// Address space for each byte of memory: most of it is reserved by threads and never filled.
    private static let spaceFactor: UInt64 = 4
    private static let maximumFiles: UInt64 = 4_096
    /// Processes and threads of the whole user, other mixers and the gateway among them.
    private static let maximumThreads: UInt64 = 65_536
    /// With what a process ends that must be confined and cannot be (`sysexits.h`, EX_CONFIG).
    private static let unconfinedStatus: Int32 = 78

    /// What is read of the machine: libraries, fonts, time zones, and what the system says of processors and threads.
    private static let readable = [
        "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/share", "/usr/local/lib", "/usr/local/share", "/lib", "/lib64",
        "/etc/fonts", "/etc/gcrypt", "/etc/gnutls", "/etc/hosts", "/etc/ld.so.cache", "/etc/localtime",
        "/etc/nsswitch.conf", "/etc/timezone", "/var/cache/fontconfig", "/var/lib/fonts", "/dev/random", "/dev/urandom",
        "/dev/zero", "/proc", "/sys/devices/system", "/sys/fs/cgroup",
    ]
    /// The same of the user's home.
    private static let readableAtHome = [
        ".cache/fontconfig", ".config/fontconfig", ".fontconfig", ".fonts", ".fonts.conf", ".fonts.conf.d",
        ".local/share/fonts",
    ]

    /// Confines this process as far as the environment wants it and the kernel can.
    ///
    /// To be called before another thread runs: rules of files hold for the thread that makes them and those it starts.
    public static func begin() {
        let environment = ProcessInfo.processInfo.environment
        guard let level = environment[variable], level != levels[2], !isInstrumented else { return }
        let missing = confine(environment)
        guard !missing.isEmpty else { return }
        let isRequired = level == levels[1]
        Logger(label: "footlight.mixer").log(
            level: isRequired ? .critical : .warning,
            "this system cannot confine a mixer in full",
            metadata: ["without": "\(missing.joined(separator: ", "))"]
        )
        if isRequired { exit(unconfinedStatus) }
    }

    /// Whether a sanitizer is built in, which needs more of the system than a mixer does.
    static var isInstrumented: Bool {
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
    }

    /// - Returns: What the system refused, in words.
    private static func confine(_ environment: [String: String]) -> [String] {
        var missing: [String] = []
        func attempt(_ part: String, _ result: Int32) {
            if result < 0 { missing.append("\(part) (\(String(cString: strerror(-result))))") }
        }
        preferInShortage()
        attempt("no new privileges", footlight_no_new_privileges())
        attempt("no dumps", footlight_not_dumpable())
        attempt("limit of cores", limit(FOOTLIGHT_LIMIT_CORE, 0))
        attempt("limit of files", limit(FOOTLIGHT_LIMIT_FILES, maximumFiles))
        attempt("limit of threads", limit(FOOTLIGHT_LIMIT_PROCESSES, maximumThreads))
        if let memory = environment[memoryVariable].flatMap({ UInt64($0) }), memory > 0, memory < 1 << 32 {
            attempt("limit of memory", limit(FOOTLIGHT_LIMIT_DATA, memory << 20))
            attempt("limit of address space", limit(FOOTLIGHT_LIMIT_ADDRESS_SPACE, memory * spaceFactor << 20))
        }
        attempt("rules of files", restrictFiles(environment))
        attempt("filter of system calls", footlight_filter_calls())
        return missing
    }

    private static func limit(_ resource: Int, _ value: UInt64) -> Int32 {
        footlight_limit(Int32(resource), value)
    }

    /// Where memory runs out all the same, one room's program ends before the gateway does.
    private static func preferInShortage() {
        let file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, "500", 3)
        close(file)
    }

    private static func restrictFiles(_ environment: [String: String]) -> Int32 {
        let rules = footlight_landlock_begin()
        guard rules >= 0 else { return rules }
        var paths = readable
        if let home = environment["HOME"], home.hasPrefix("/") { paths += readableAtHome.map { "\(home)/\($0)" } }
        paths += ["XDG_CACHE_HOME", "XDG_CONFIG_HOME"].compactMap { environment[$0] }.map { "\($0)/fontconfig" }
        paths += environment["XDG_DATA_HOME"].map { ["\($0)/fonts"] } ?? []
        paths += ["FONTCONFIG_FILE", "FONTCONFIG_PATH"].compactMap { environment[$0] }
        paths += (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
        for path in paths where path.hasPrefix("/") {
            // What is not there cannot be read either.
            _ = footlight_landlock_allow(rules, path, Int32(FOOTLIGHT_READ))
        }
        let written = ["/dev/null", madeMarks(environment), environment[RoomMixer.recordingVariable]]
        for path in written.compactMap(\.self) {
            _ = footlight_landlock_allow(rules, path, Int32(FOOTLIGHT_WRITE))
        }
        return footlight_landlock_enforce(rules)
    }

    /// The file in which the mixer marks what it decodes; made here, for a rule needs a file that is there.
    private static func madeMarks(_ environment: [String: String]) -> String? {
        guard let path = environment[RoomMixer.marksVariable] else { return nil }
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        close(file)
        return path
    }
}
