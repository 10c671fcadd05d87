import FootlightClient
import GatewayModel
import Stage

/// A show in one line.
struct ShowLine: Equatable, CustomStringConvertible {
    let description: String

    /// Reads where a call stands now.
    @MainActor
    init(_ call: BroadcastCall) {
        var parts = [Self.state(call.status)]
        if let room = call.room, call.status.callState == .joined {
            let hosts = room.hosts.map { Self.host($0) }.joined(separator: ", ")
            parts += ["hosts: \(hosts.isEmpty ? "none" : hosts)", "audience: \(room.audienceCount)"]
            parts.append("live: \(Self.live(room))")
        }
        description = parts.joined(separator: " | ")
    }

    private static func state(_ status: CallStatus) -> String {
        switch status.phase {
        case .reconnecting(let loss): "reconnecting (\(loss.rawValue))"
        case .leaving: "leaving"
        default:
            switch status.callingState {
            case .idle: "idle"
            case .lobby: "lobby"
            case .incoming: "incoming"
            case .outgoing: "outgoing"
            case .joining: "joining"
            case .inCall: "inCall"
            case .reconnecting: "reconnecting"
            }
        }
    }

    private static func host(_ participant: ParticipantResource) -> String {
        var devices = [
            "mic \(participant.isOn(.mic) ? "on" : "off")", "camera \(participant.isOn(.camera) ? "on" : "off")",
        ]
        if participant.isOn(.screen) { devices.append("screen on") }
        if participant.status != ParticipantStatus.connected.rawValue { devices.append(participant.status) }
        return "\(participant.identity) (\(devices.joined(separator: ", ")))"
    }

    /// Whether anybody is seen or heard, and where the program goes beside the players.
    private static func live(_ room: CallRoom) -> String {
        let isOnAir = room.hosts.contains { !$0.streams.isEmpty }
        var parts = [room.room.backstage ? "backstage" : isOnAir ? "on air" : "nobody on air"]
        let egress = room.room.egress
        for state in [egress.livestream.state, egress.hls.state] where !state.hasSuffix("STOPPED") {
            parts.append(state)
        }
        return parts.joined(separator: ", ")
    }
}
