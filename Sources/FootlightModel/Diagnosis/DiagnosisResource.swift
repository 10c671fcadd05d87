public import Stage

/// What keeps the hosts of a room from being heard or seen, and what its load means.
public struct RoomDiagnosisResource: Codable, Sendable, Hashable {
    /// The program as a whole.
    public var program: ProgramDiagnosisResource
    /// In join order.
    public var hosts: [HostDiagnosisResource]

    /// Creates a description.
    public init(program: ProgramDiagnosisResource, hosts: [HostDiagnosisResource]) {
        self.program = program
        self.hosts = hosts
    }
}

/// The load of a room's program, in words for an operator.
public struct ProgramDiagnosisResource: Codable, Sendable, Hashable {
    /// The degradation level, 0 to 6.
    public var level: Int
    /// What the audience sees of it.
    public var message: String
    /// What would help most; empty if there is nothing to do.
    public var advice: String
    /// The code of the advice, for a client that has the sentence in its own language; absent if there is nothing to do.
    public var adviceCode: WireEnum<ProgramDiagnosis.Advice>?
    /// The numbers in the advice: `percent` of the machine, `height` of the program, and the `count` of further sizes.
    public var values: [String: Int]?
    /// The share of the machine's processors that the mixer uses, in percent; null if unknown.
    @ExplicitNull public var processorPercent: Int?

    /// Creates a description.
    public init(
        level: Int,
        message: String,
        advice: String,
        adviceCode: WireEnum<ProgramDiagnosis.Advice>? = nil,
        values: [String: Int]? = nil,
        processorPercent: Int?
    ) {
        self.level = level
        self.message = message
        self.advice = advice
        self.adviceCode = adviceCode
        self.values = values
        self.processorPercent = processorPercent
    }

    private enum CodingKeys: String, CodingKey {
        case level
        case message
        case advice
        case adviceCode = "advice_code"
        case values
        case processorPercent = "processor_percent"
    }
}

/// Why a host is not heard, and why it is not seen.
public struct HostDiagnosisResource: Codable, Sendable, Hashable {
    /// The host's sid.
    public var participantSID: String
    /// The host's identity.
    public var identity: String
    /// Why it is not heard.
    public var sound: FindingResource
    /// Why it is not seen.
    public var video: FindingResource

    /// Creates a description.
    public init(participantSID: String, identity: String, sound: FindingResource, video: FindingResource) {
        self.participantSID = participantSID
        self.identity = identity
        self.sound = sound
        self.video = video
    }

    private enum CodingKeys: String, CodingKey {
        case participantSID = "participant_sid"
        case identity
        case sound
        case video
    }
}

/// A finding of a diagnosis, in words for an operator.
public struct FindingResource: Codable, Sendable, Hashable {
    /// The first cause that is true; `none` if nothing keeps the host from the audience.
    public var cause: WireEnum<HostDiagnosis.Cause>
    /// The cause in a sentence.
    public var message: String
    /// What to do about it; empty if there is nothing to do.
    public var advice: String
    /// The identity of whoever switched the track off, if it was not the host; null otherwise.
    @ExplicitNull public var by: String?
    /// The identity of the host under whose speech this one is quieter; absent for other causes.
    public var otherHost: String?

    /// Creates a description.
    public init(
        cause: WireEnum<HostDiagnosis.Cause>,
        message: String,
        advice: String,
        by: String?,
        otherHost: String? = nil
    ) {
        self.cause = cause
        self.message = message
        self.advice = advice
        self.by = by
        self.otherHost = otherHost
    }

    private enum CodingKeys: String, CodingKey {
        case cause
        case message
        case advice
        case by
        case otherHost = "other_host"
    }
}
