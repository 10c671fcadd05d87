import GatewayModel
import Stage

/// Devices that follow a call.
extension LocalMedia {
    /// Takes where the call stands.
    func take(_ status: CallStatus, of call: BroadcastCall) async {
        switch status.phase {
        case .joined:
            takeServerSettings(of: call)
            await entered(isHost: call.localParticipant?.isHost ?? false)
        case .left: await left()
        default: break
        }
    }

    /// Takes what the gateway has on, in the room or in its lobby.
    func takeServerSettings(of call: BroadcastCall) {
        guard let settings = call.serverSettings else { return }
        takeDefaults(
            CallSettings(
                isAudioOn: settings.audioOn,
                isVideoOn: settings.videoOn,
                cameraPosition: CallSettings.CameraPosition(rawValue: settings.cameraPosition)
            )
        )
    }

    /// Takes that somebody in the room has changed; it may be oneself, who went on stage or stepped down.
    ///
    /// What counts is the call as it is by now: a list of participants may be behind what an answer has told since.
    func takeParticipants(of call: BroadcastCall) async {
        guard call.status.phase == .joined, let own = call.localParticipant else { return }
        await follow(isHost: own.isHost)
    }
}
