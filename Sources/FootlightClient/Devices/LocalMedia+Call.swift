import GatewayModel
import Stage

/// Devices that follow a call.
extension LocalMedia {
    /// Takes where the call stands.
    func take(_ status: CallStatus, of call: BroadcastCall) async {
        switch status.phase {
        case .joined:
            if let settings = call.effectiveSettings {
                takeDefaults(
                    CallSettings(
                        isAudioOn: settings.audioOn,
                        isVideoOn: settings.videoOn,
                        cameraPosition: CallSettings.CameraPosition(rawValue: settings.cameraPosition)
                    )
                )
            }
            await entered(isHost: call.localParticipant?.isHost ?? false)
        case .left: await left()
        default: break
        }
    }

    /// Takes who is in the room; oneself may have gone on stage, or stepped down.
    func take(_ participants: [ParticipantResource], of call: BroadcastCall) async {
        guard call.status.phase == .joined else { return }
        guard let own = participants.first(where: { $0.identity == call.identity }) else { return }
        await follow(isHost: own.isHost)
    }
}
