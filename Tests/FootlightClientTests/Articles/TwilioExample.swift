// article: begin
import FootlightClient
import Foundation

/// A room and its callbacks.
@MainActor
final class RoomController: RoomListener {
    let call: BroadcastCall
    private(set) var log: [String] = []
    private var observer: RoomObserver?

    init(gateway: URL, token: String, identity: String) {
        call = BroadcastCall(client: BroadcastClient(baseURL: gateway, token: token), identity: identity)
        observer = RoomObserver(call, self)
    }

    /// Connects with the microphone on and the camera off.
    func connect(to room: String) {
        call.callSettings = CallSettings(isAudioOn: true, isVideoOn: false)
        call.connectOptions = ConnectOptionsBody(maxBitrate: 2500, width: 1280, height: 720)
        call.join(CallJoin(room: room))
    }

    /// Turns the microphone off, which unpublishes it, or on, which publishes a new track.
    func setMicrophone(_ isOn: Bool) async throws {
        if isOn { try await call.publish(.mic) } else { try await call.unpublish(.mic) }
    }

    /// Puts the call on hold; the tracks stay published, disabled.
    func setOnHold(_ isOnHold: Bool) async throws {
        try await call.setEnabled(.mic, !isOnHold)
    }

    func roomDidConnect(_ call: BroadcastCall) {
        log.append("connected to \(call.room?.room.uniqueName ?? "")")
    }

    func room(_ call: BroadcastCall, didFailToConnect error: StageError) {
        switch error.code {
        case StageError.roomFull.code: log.append("the room is full")
        default: log.append("\(error.code): \(error.solution)")
        }
    }

    func room(_ call: BroadcastCall, isReconnecting error: StageError) {
        log.append(error.code == 53405 ? "the media was lost" : "the connection was lost")
    }

    func room(_ call: BroadcastCall, didDisconnect error: StageError?) {
        log.append(error.map { "ended by \($0.code)" } ?? "left")
    }

    func room(_ call: BroadcastCall, _ change: RoomChange) {
        switch change {
        case .participantConnected(let participant): log.append("\(participant.identity) is here")
        case .trackEnabled(let track, let participant): log.append("\(participant.identity)'s \(track.name) is on")
        case .trackDisabled(let track, let participant): log.append("\(participant.identity)'s \(track.name) is off")
        default: break
        }
    }
}
// article: end
