import CSeccomp
import Foundation
import Glibc
import Logging

/// Confines a mixer process, which decodes untrusted media.
///
/// Compromised code must not be able to start programs, read the gateway's keys, connect elsewhere than to the gateway,
/// or exhaust the machine's memory. Missing kernel features are logged.
package enum MixerConfinement {
    /// Address space per byte of memory: threads reserve much of it without using it.
    private static let spaceFactor: UInt64 = 4
    private static let maximumFiles: UInt64 = 4_096
    /// The limit on processes and threads of the user, other mixers and the gateway included.
    private static let maximumThreads: UInt64 = 65_536
    /// The exit status of a process that must be confined and cannot be (`sysexits.h`, EX_CONFIG).
    private static let unconfinedStatus: Int32 = 78

    /// Readable system paths: libraries, fonts, time zones, and processor and thread information.
    private static let readable = [
        "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/share", "/usr/local/lib", "/usr/local/share", "/lib", "/lib64",
        "/etc/fonts", "/etc/gcrypt", "/etc/gnutls", "/etc/hosts", "/etc/ld.so.cache", "/etc/localtime",
        "/etc/nsswitch.conf", "/etc/timezone", "/var/cache/fontconfig", "/var/lib/fonts", "/dev/random", "/dev/urandom",
        "/dev/zero", "/proc", "/sys/devices/system", "/sys/fs/cgroup",
    ]
    /// Readable paths in the user's home folder.
    private static let readableAtHome = [
        ".cache/fontconfig", ".config/fontconfig", ".fontconfig", ".fonts", ".fonts.conf", ".fonts.conf.d",
        ".local/share/fonts",
    ]

    /// Confines this process to the level of the environment, as far as the kernel supports it.
    ///
    /// Call it before other threads are started: Landlock rules apply to the calling thread and its descendants.
    package static func begin() {
        let environment = ProcessInfo.processInfo.environment
        let levels = MixerEnvironment.confinementLevels
        guard let level = environment[MixerEnvironment.confinement], level != levels[2], !isInstrumented else { return }
        let missing = confine(environment)
        guard !missing.isEmpty else { return }
        let isRequired = level == levels[1]
        Logger(label: "footlight.mixer").log(
            level: isRequired ? .critical : .warning,
            "this system cannot fully confine a mixer",
            metadata: ["without": "\(missing.joined(separator: ", "))"]
        )
        if isRequired { exit(unconfinedStatus) }
    }

    /// Whether a sanitizer is linked, which needs more system calls than a mixer.
    static var isInstrumented: Bool {
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
    }

    /// - Returns: The features that the system refused.
    private static func confine(_ environment: [String: String]) -> [String] {
        var missing: [String] = []
        func attempt(_ part: String, _ result: Int32) {
            if result < 0 { missing.append("\(part) (\(String(cString: strerror(-result))))") }
        }
        raiseOOMScore()
        attempt("no new privileges", footlight_no_new_privileges())
        attempt("no dumps", footlight_not_dumpable())
        attempt("core file limit", limit(FOOTLIGHT_LIMIT_CORE, 0))
        attempt("open file limit", limit(FOOTLIGHT_LIMIT_FILES, maximumFiles))
        attempt("thread limit", limit(FOOTLIGHT_LIMIT_PROCESSES, maximumThreads))
        if let memory = environment[MixerEnvironment.memory].flatMap({ UInt64($0) }), memory > 0, memory < 1 << 32 {
            attempt("memory limit", limit(FOOTLIGHT_LIMIT_DATA, memory << 20))
            attempt("address space limit", limit(FOOTLIGHT_LIMIT_ADDRESS_SPACE, memory * spaceFactor << 20))
        }
        attempt("Landlock rules", restrictFiles(environment))
        attempt("seccomp filter", footlight_filter_calls())
        return missing
    }

    private static func limit(_ resource: Int, _ value: UInt64) -> Int32 {
        footlight_limit(Int32(resource), value)
    }

    /// Makes the OOM killer prefer a mixer to the gateway.
    private static func raiseOOMScore() {
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
            // A missing path needs no rule.
            _ = footlight_landlock_allow(rules, path, Int32(FOOTLIGHT_READ))
        }
        let written = ["/dev/null", makeMarkerFile(environment), environment[RoomMixer.recordingVariable]]
        for path in written.compactMap(\.self) {
            _ = footlight_landlock_allow(rules, path, Int32(FOOTLIGHT_WRITE))
        }
        return footlight_landlock_enforce(rules)
    }

    /// Creates the file of the decode markers, because a rule needs an existing file.
    private static func makeMarkerFile(_ environment: [String: String]) -> String? {
        guard let path = environment[MixerEnvironment.markers] else { return nil }
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        close(file)
        return path
    }
}
