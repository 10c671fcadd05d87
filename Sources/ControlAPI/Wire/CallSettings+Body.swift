import GatewayModel
import Stage

extension CallSettings {
    /// Reads a join; no host may send more than its token says.
    ///
    /// - Throws: 3073 for a camera that is none.
    init(_ body: JoinBody, limit: Int?) throws(StageError) {
        let options = body.connectOptions
        let asked = options?.maxBitrate
        try self.init(body.callSettings)
        maximumBitrate = limit.map { min(asked ?? $0, $0) } ?? asked
        width = options?.width
        height = options?.height
    }

    /// Reads which devices are on.
    ///
    /// - Throws: 3073 for a camera that is none.
    init(_ body: CallSettingsBody?) throws(StageError) {
        self.init(
            isAudioOn: body?.audioOn,
            isVideoOn: body?.videoOn,
            isSpeakerOn: body?.speakerOn,
            isAudioOutputOn: body?.audioOutputOn
        )
        guard let name = body?.cameraPosition else { return }
        guard let position = CameraPosition(rawValue: name) else {
            throw .invalidParameter("call_settings.camera_position", "must be front or back")
        }
        cameraPosition = position
    }
}

extension CallSettingsResource {
    /// Settings in which the stage left nothing open.
    init(_ settings: CallSettings) {
        self.init(
            audioOn: settings.isAudioOn ?? true,
            videoOn: settings.isVideoOn ?? true,
            speakerOn: settings.isSpeakerOn ?? true,
            audioOutputOn: settings.isAudioOutputOn ?? true,
            cameraPosition: (settings.cameraPosition ?? .front).rawValue
        )
    }
}

extension ConnectOptionsResource {
    init?(_ settings: CallSettings, of participant: ParticipantView) {
        guard participant.mode == .sendAndReceive, let bitrate = settings.maximumBitrate, let width = settings.width,
            let height = settings.height
        else { return nil }
        self.init(maxBitrate: bitrate, width: width, height: height)
    }
}
