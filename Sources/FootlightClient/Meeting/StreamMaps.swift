public import GatewayModel
public import Stage

/// Who is seen and heard, by participant: as streams begin and end.
///
/// Only hosts are in the maps.
public struct StreamMaps: Sendable, Equatable {
    /// Camera tracks that are seen, by sid of the participant.
    public private(set) var videoTracks: [String: TrackResource] = [:]
    /// Whether microphones are on, by sid of the participant.
    public private(set) var micStatus: [String: Bool] = [:]
    /// Whether cameras are on, by sid of the participant.
    public private(set) var cameraStatus: [String: Bool] = [:]

    /// Begins with nobody.
    public init() {}

    /// The camera's track; nil for those who are not seen.
    public func videoTrack(of sid: String) -> TrackResource? { videoTracks[sid] }
    /// Whether somebody's microphone is on; false for those nobody knows.
    public func isMicOn(_ sid: String) -> Bool { micStatus[sid] ?? false }
    /// Whether somebody's camera is on; false for those nobody knows.
    public func isCameraOn(_ sid: String) -> Bool { cameraStatus[sid] ?? false }

    /// A stream began; whoever is no host has none.
    public mutating func streamEnabled(_ kind: StreamEdges.Kind, of participant: ParticipantResource) {
        let sid = participant.sid
        guard participant.isHost else {
            videoTracks[sid] = nil
            micStatus[sid] = false
            cameraStatus[sid] = false
            return
        }
        switch kind {
        case .video:
            videoTracks[sid] = participant.track(.camera)
            cameraStatus[sid] = true
        case .audio: micStatus[sid] = true
        case .share: break
        }
    }

    /// A stream ended, whatever the participant's mode.
    public mutating func streamDisabled(_ kind: StreamEdges.Kind, of sid: String) {
        switch kind {
        case .video:
            videoTracks[sid] = nil
            cameraStatus[sid] = false
        case .audio: micStatus[sid] = false
        case .share: break
        }
    }

    /// Somebody left, or is no host any more.
    public mutating func remove(_ sid: String) {
        videoTracks[sid] = nil
        micStatus[sid] = nil
        cameraStatus[sid] = nil
    }

    /// Takes what happened in the room.
    public mutating func take(_ news: RoomNews) {
        switch news {
        case .streamEnabled(let kind, let participant): streamEnabled(kind, of: participant)
        case .streamDisabled(let kind, let participant): streamDisabled(kind, of: participant.sid)
        case .modeChanged(let participant, _) where !participant.isHost: remove(participant.sid)
        case .participantDisconnected(let participant): remove(participant.sid)
        default: break
        }
    }
}
