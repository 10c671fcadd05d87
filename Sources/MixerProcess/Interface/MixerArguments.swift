import Glibc

/// The arguments of a mixer process, besides its environment.
package struct MixerArguments: Sendable, Equatable {
    /// The command of the program that runs a mixer.
    package static let command = "mixer"

    /// The room to mix.
    package var room: String
    /// The address under which the gateway is reached.
    package var host: String
    /// The gateway's RTMP port for mixers.
    package var rtmpPort: Int
    /// The gateway's HTTP port for mixers.
    package var httpPort: Int
    /// The run of the program; a later one replaces an earlier one.
    package var epoch: UInt64

    /// Creates the arguments of a room's mixer.
    package init(room: String, host: String, rtmpPort: Int, httpPort: Int, epoch: UInt64) {
        self.room = room
        self.host = host
        self.rtmpPort = rtmpPort
        self.httpPort = httpPort
        self.epoch = epoch
    }

    /// The command line without the program's path.
    package var commandLine: [String] {
        [
            Self.command, "--room", room, "--host", host, "--rtmp-port", "\(rtmpPort)", "--http-port", "\(httpPort)",
            "--epoch", "\(epoch)",
        ]
    }
}

/// The environment variables that a gateway sets for its mixers.
package enum MixerEnvironment {
    /// The variable of the token, which must not appear in the process list.
    package static let token = "FOOTLIGHT_MIXER_TOKEN"

    /// Returns the token of this process, and overwrites it in the environment, which `/proc` shows; nil without one.
    ///
    /// Call it once.
    static func readToken() -> String? {
        guard let value = getenv(token) else { return nil }
        defer { memset(value, Int32(UInt8(ascii: "*")), strlen(value)) }
        return String(cString: value)
    }
    /// The variable of the file for the decode markers.
    package static let markers = "FOOTLIGHT_MIXER_MARKS"
    /// The variable of the confinement level, one of `confinementLevels`.
    package static let confinement = "FOOTLIGHT_MIXER_CONFINEMENT"
    /// The variable of the memory limit in MiB; 0 is no limit.
    package static let memory = "FOOTLIGHT_MIXER_MEMORY"

    /// The confinement levels, which are also the values of `mixer.confinement`.
    package static let confinementLevels = ["on", "required", "off"]
}
