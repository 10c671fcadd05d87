// article: begin
import FootlightClient
import Foundation

/// A call from the lobby to the end.
@MainActor
final class CallView {
    let model: CallingModel

    init(gateway: URL, token: String, identity: String, devices: any MediaCapturing) {
        let client = BroadcastClient(baseURL: gateway, token: token)
        model = CallingModel(call: BroadcastCall(client: client, identity: identity), capture: devices)
        model.comparators = [.pinned, .screensharing, .dominantSpeaker, .publishingVideo, .userID]
        // From now on calls ring here.
        model.listen()
    }

    /// Enters the lobby, and joins with the microphone off.
    func joinQuietly(_ callID: String) async throws {
        model.enterLobby(callID)
        if model.callSettings.audioOn { try await model.toggleMicrophone() }
        model.joinCall(callID)
    }

    /// The text of a view.
    var screen: String {
        switch model.screen {
        case .host: model.error.map { "It ended: \($0.message)" } ?? "Start a call"
        case .lobby(let info): "Join \(info.callID)?"
        case .incoming(let invitation): "\(invitation.inviter) is calling"
        case .outgoing: "Ringing"
        case .joining: "Joining"
        case .reconnecting: "Reconnecting"
        case .waiting: "Nobody else is here"
        case .minimized: "\(model.participants.count) in the call"
        case .call: model.participants.map(\.displayName).joined(separator: ", ")
        }
    }
}
// article: end
