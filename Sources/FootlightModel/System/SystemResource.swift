/// How the gateway and its machine are doing.
public struct SystemResource: Codable, Sendable, Hashable {
    /// The version of the gateway.
    public var version: String
    /// The start of the gateway.
    public var startedAt: Timestamp
    /// Seconds since the start.
    public var uptime: Double
    /// Whether the gateway accepts new work; the findings have the reasons why not.
    public var ready: Bool
    /// What was found, in words: problems first, then warnings, then what is fine.
    public var findings: [SystemFindingResource]
    /// The processors.
    public var processor: SystemProcessorResource
    /// The memory.
    public var memory: SystemMemoryResource
    /// The disks of the data folder and of the recordings; one if both are on the same disk.
    public var disks: [SystemDiskResource]
    /// The open files and connections.
    public var descriptors: SystemDescriptorsResource
    /// What is sent to viewers.
    public var network: SystemNetworkResource
    /// The running mixers, by room.
    public var mixers: [SystemMixerResource]
    /// The certificate of HTTPS and RTMPS; null without one.
    @ExplicitNull public var certificate: SystemCertificateResource?

    /// Creates a description.
    public init(
        version: String,
        startedAt: Timestamp,
        uptime: Double,
        ready: Bool,
        findings: [SystemFindingResource],
        processor: SystemProcessorResource,
        memory: SystemMemoryResource,
        disks: [SystemDiskResource],
        descriptors: SystemDescriptorsResource,
        network: SystemNetworkResource,
        mixers: [SystemMixerResource],
        certificate: SystemCertificateResource?
    ) {
        self.version = version
        self.startedAt = startedAt
        self.uptime = uptime
        self.ready = ready
        self.findings = findings
        self.processor = processor
        self.memory = memory
        self.disks = disks
        self.descriptors = descriptors
        self.network = network
        self.mixers = mixers
        self.certificate = certificate
    }

    private enum CodingKeys: String, CodingKey {
        case version
        case startedAt = "started_at"
        case uptime
        case ready
        case findings
        case processor
        case memory
        case disks
        case descriptors
        case network
        case mixers
        case certificate
    }
}

/// How serious a finding is.
public enum SystemFindingLevel: String, Sendable, Hashable {
    /// Nothing is missing.
    case ok
    /// The gateway runs, with less than it could have.
    case warning
    /// A show fails, or will fail.
    case problem
}

/// One thing that was looked at, in words for an operator.
public struct SystemFindingResource: Codable, Sendable, Hashable {
    /// What was looked at, such as `processor`, or the name of a reason of `/readyz`.
    public var subject: String
    /// How serious it is.
    public var level: WireEnum<SystemFindingLevel>
    /// What was found, in a sentence.
    public var message: String
    /// What to do; empty if there is nothing to do.
    public var advice: String
    /// The code of the message, for a client that has the sentence in its own language.
    public var messageCode: WireEnum<SystemMessageCode>?
    /// The code of the advice: one of `SystemAdviceCode`, or of a mixer one of `ProgramDiagnosis.Advice`; absent if there
    /// is nothing to do.
    public var adviceCode: String?
    /// What stands in both sentences, by name: numbers, and names of rooms, hosts and stores.
    ///
    /// `count` decides between singular and plural. Names end in `_bytes`, `_mbps` (megabits per second) and `percent`
    /// where they have a unit.
    public var values: [String: AnyJSON]?

    /// Creates a finding.
    public init(
        subject: String,
        level: WireEnum<SystemFindingLevel>,
        message: String,
        advice: String = "",
        messageCode: WireEnum<SystemMessageCode>? = nil,
        adviceCode: String? = nil,
        values: [String: AnyJSON]? = nil
    ) {
        self.subject = subject
        self.level = level
        self.message = message
        self.advice = advice
        self.messageCode = messageCode
        self.adviceCode = adviceCode
        self.values = values
    }

    private enum CodingKeys: String, CodingKey {
        case subject
        case level
        case message
        case advice
        case messageCode = "message_code"
        case adviceCode = "advice_code"
        case values
    }
}

/// The use of the processors; percentages are of all cores together.
public struct SystemProcessorResource: Codable, Sendable, Hashable {
    /// The number of cores.
    public var cores: Int
    /// What the whole machine uses; null if unknown.
    @ExplicitNull public var machinePercent: Double?
    /// What the gateway's own process uses, without its mixers; null if unknown.
    @ExplicitNull public var gatewayPercent: Double?

    /// Creates a description.
    public init(cores: Int, machinePercent: Double?, gatewayPercent: Double?) {
        self.cores = cores
        self.machinePercent = machinePercent
        self.gatewayPercent = gatewayPercent
    }

    private enum CodingKeys: String, CodingKey {
        case cores
        case machinePercent = "machine_percent"
        case gatewayPercent = "gateway_percent"
    }
}

/// The use of the memory, in bytes.
public struct SystemMemoryResource: Codable, Sendable, Hashable {
    /// What is in use of the machine's, or the container's, memory; null if unknown.
    @ExplicitNull public var used: Int?
    /// All of it; null if unknown.
    @ExplicitNull public var total: Int?
    /// What the gateway's own process uses, without its mixers; null if unknown.
    @ExplicitNull public var gateway: Int?

    /// Creates a description.
    public init(used: Int?, total: Int?, gateway: Int?) {
        self.used = used
        self.total = total
        self.gateway = gateway
    }
}

/// The space of a disk, in bytes.
public struct SystemDiskResource: Codable, Sendable, Hashable {
    /// What is on it: `data`, `recordings`.
    public var holds: [String]
    /// What the gateway may still write.
    public var free: Int
    /// Its size.
    public var total: Int

    /// Creates a description.
    public init(holds: [String], free: Int, total: Int) {
        self.holds = holds
        self.free = free
        self.total = total
    }
}

/// The open files and connections of the gateway's process.
public struct SystemDescriptorsResource: Codable, Sendable, Hashable {
    /// The open ones; null if unknown.
    @ExplicitNull public var open: Int?
    /// The most that may be open.
    public var limit: Int

    /// Creates a description.
    public init(open: Int?, limit: Int) {
        self.open = open
        self.limit = limit
    }
}

/// What is sent to viewers and outputs.
public struct SystemNetworkResource: Codable, Sendable, Hashable {
    /// Media and playlists to viewers, and media to outputs, in bytes per second; null if unknown.
    @ExplicitNull public var bytesPerSecond: Double?
    /// The part of it that is sent to outputs; null if unknown.
    @ExplicitNull public var outputBytesPerSecond: Double?
    /// The viewers who are served by this gateway.
    public var viewers: Int
    /// The setting `limits.bandwidth_mbps`; null without it.
    @ExplicitNull public var bandwidthMbps: Int?
    /// How many more viewers the link carries by estimate; null while nobody watches, and without the setting.
    @ExplicitNull public var moreViewers: Int?

    /// Creates a description.
    public init(
        bytesPerSecond: Double?,
        outputBytesPerSecond: Double?,
        viewers: Int,
        bandwidthMbps: Int?,
        moreViewers: Int?
    ) {
        self.bytesPerSecond = bytesPerSecond
        self.outputBytesPerSecond = outputBytesPerSecond
        self.viewers = viewers
        self.bandwidthMbps = bandwidthMbps
        self.moreViewers = moreViewers
    }

    private enum CodingKeys: String, CodingKey {
        case bytesPerSecond = "bytes_per_second"
        case outputBytesPerSecond = "output_bytes_per_second"
        case viewers
        case bandwidthMbps = "bandwidth_mbps"
        case moreViewers = "more_viewers"
    }
}

/// The mixer process of a room.
public struct SystemMixerResource: Codable, Sendable, Hashable {
    /// The room's unique name.
    public var room: String
    /// The process id.
    public var pid: Int
    /// The cores in use; null if unknown.
    @ExplicitNull public var cores: Double?
    /// The memory in use in bytes; null if unknown.
    @ExplicitNull public var memory: Int?
    /// The degradation level of the program, 0 to 6; null if unknown.
    @ExplicitNull public var degradationLevel: Int?

    /// Creates a description.
    public init(room: String, pid: Int, cores: Double?, memory: Int?, degradationLevel: Int?) {
        self.room = room
        self.pid = pid
        self.cores = cores
        self.memory = memory
        self.degradationLevel = degradationLevel
    }

    private enum CodingKeys: String, CodingKey {
        case room
        case pid
        case cores
        case memory
        case degradationLevel = "degradation_level"
    }
}

/// The certificate of HTTPS and RTMPS.
public struct SystemCertificateResource: Codable, Sendable, Hashable {
    /// The host names that it is for.
    public var names: [String]
    /// Its expiry.
    public var expiresAt: Timestamp
    /// Whole days until then; negative once it has expired.
    public var daysLeft: Int

    /// Creates a description.
    public init(names: [String], expiresAt: Timestamp, daysLeft: Int) {
        self.names = names
        self.expiresAt = expiresAt
        self.daysLeft = daysLeft
    }

    private enum CodingKeys: String, CodingKey {
        case names
        case expiresAt = "expires_at"
        case daysLeft = "days_left"
    }
}
