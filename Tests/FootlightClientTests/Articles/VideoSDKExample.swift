// article: begin
import FootlightClient
import Foundation

/// A show with hosts and an audience.
@MainActor
final class LiveStreamScreen: MeetingListener {
    let meeting: MeetingModel
    private(set) var log: [String] = []

    init(gateway: URL, token: String, identity: String, devices: any MediaCapturing) {
        let client = BroadcastClient(baseURL: gateway, token: token)
        meeting = MeetingModel(call: BroadcastCall(client: client, identity: identity), capture: devices)
        meeting.listener = self
    }

    /// Joins as a viewer or as a host.
    func join(_ room: String, asHost isHost: Bool) {
        meeting.join(room, mode: isHost ? .sendAndReceive : .receiveOnly)
    }

    /// Changes the mode; joining the stage needs a token for it, or an invitation.
    func switchMode() async throws {
        try await meeting.changeMode(meeting.isAudienceMode ? .sendAndReceive : .receiveOnly)
    }

    /// Pushes the program to a platform.
    func goLive(url: String, streamKey: String) async throws {
        let output = OutputBody(name: "main", url: url, streamKey: streamKey)
        try await meeting.startLivestream(StartLivestreamBody(outputs: [output]))
    }

    /// The tiles of the hosts and the number of viewers.
    var screen: String {
        let tiles = meeting.hosts.map { meeting.tile(of: $0) }.map { tile in
            switch tile.content {
            case .video(let track): "\(tile.label) (\(track.rawValue))"
            case .placeholder(let placeholder): placeholder.name
            }
        }
        return (tiles + ["\(meeting.audienceCount) watching"]).joined(separator: ", ")
    }

    func onMeetingJoined() { log.append("joined") }
    func onParticipantModeChanged(_ participant: ParticipantResource) {
        log.append("\(participant.identity) is \(participant.mode)")
    }
    func onStreamEnabled(_ kind: StreamTransitions.Kind, _ participant: ParticipantResource) {
        log.append("\(participant.identity)'s \(kind) is on")
    }
    func onLivestreamStateChanged(_ state: WireEnum<LivestreamStatus.State>) { log.append("\(state)") }
    func onMeetingLeft(_ error: StageError?) { log.append(error.map { "ended by \($0.code)" } ?? "left") }
}
// article: end
