/// The permission to publish one source of one host, granted for a stream key.
public struct PublishGrant: Sendable {
    /// The room.
    public let roomSID: String
    /// The room's unique name.
    public let room: String
    /// The host.
    public let participantSID: String
    /// The host's identity.
    public let identity: String
    /// The source that the connection publishes.
    public let source: PublishSource
    /// The gate that passes or drops each packet; it follows the room's state.
    public let gate: TrackGate
    /// The limits of the host's call settings; nil limits leave ingest's own limits in force.
    public let limits: PublishLimits
}

extension PublishGrant: Hashable {
    /// Two grants are the same when they are for the same source of the same participant.
    public static func == (left: PublishGrant, right: PublishGrant) -> Bool {
        left.participantSID == right.participantSID && left.source == right.source && left.roomSID == right.roomSID
    }

    /// Hashes the participant and the source.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(participantSID)
        hasher.combine(source)
    }
}

/// The result of a publish request.
public enum PublishAdmission: Sendable, Equatable {
    /// The connection is the publisher; `replacing` is the previous connection, which is to be closed.
    case accepted(replacing: UInt64?)
    /// The grant is not valid any more: the host left, changed the mode, or the room ended.
    case refused(PublishRefusal)
}

/// The reason for refusing a stream key.
public enum PublishRefusal: Error, Sendable, Equatable {
    /// The key is unknown, or its participant left.
    case unknownKey
    /// The participant is not a host: RECV_ONLY and SIGNALLING_ONLY do not publish.
    case wrongMode
    case roomEnded
    /// The host's media crashed the mixer repeatedly; its media is refused for these seconds.
    case quarantined(seconds: Int)
    /// The key's owner may not publish now, for the reason of the error.
    case closed(StageError)

    /// The refusal as an API error.
    public var error: StageError {
        switch self {
        case .unknownKey: .participantNotFound
        case .wrongMode: .notAHost
        case .roomEnded: .roomNotFound
        case .quarantined(let seconds): .hostQuarantined(seconds: seconds)
        case .closed(let error): error
        }
    }
}

/// The limits of one host connection, from the host's call settings.
public struct PublishLimits: Sendable, Hashable {
    /// Video and audio together, in kb/s; nil without a limit.
    public let bitrate: Int?
    /// The longer side of the video, in pixels; nil without a limit.
    public let longerSide: Int?
    /// The shorter side of the video, in pixels; nil without a limit.
    public let shorterSide: Int?

    init(_ settings: CallSettings) {
        bitrate = settings.maximumBitrate
        let sides = [settings.width, settings.height].compactMap(\.self)
        longerSide = sides.count == 2 ? sides.max() : nil
        shorterSide = sides.count == 2 ? sides.min() : nil
    }
}
