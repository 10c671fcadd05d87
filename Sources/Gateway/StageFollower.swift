import Egress
import FanOut
import Ingest
import Stage
import Viewership

/// Carries what happens on the stage to every part that has to act on it.
///
/// Called with each event in order, by whichever thread caused it; nothing here waits.
struct StageFollower: Sendable {
    let stage: RoomDirectory
    let hosts: HostDoor
    let mixers: MixerSupervisor
    let program: ProgramDoor
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let livestreams: Livestreams
    let viewership: ViewershipLedger

    func follow(_ event: StageEvent) {
        let room = event.roomName
        switch event.payload {
        case .roomCreated:
            viewership.roomBegan(room)
            feeds.open(room).attach(hls.open(room))
        case .participantJoined(let participant):
            if participant.mode == .receiveOnly {
                viewership.participantWatching(room: room, identity: participant.identity)
            }
            tellMixers(event)
        case .participantLeft(let participant, let reason):
            if participant.mode == .receiveOnly, reason != .duplicateIdentity {
                viewership.participantLeft(room: room, identity: participant.identity)
            }
            leaveStage(participant, room: room, because: "the host has left the room")
            tellMixers(event)
        case .participantModeChanged(let participant, let old):
            if old == .receiveOnly { viewership.participantLeft(room: room, identity: participant.identity) }
            if participant.mode == .receiveOnly {
                viewership.participantWatching(room: room, identity: participant.identity)
            }
            if old == .sendAndReceive { leaveStage(participant, room: room, because: "not a host any more") }
            tellMixers(event)
        case .roomEnded:
            end(event)
        default:
            break
        }
    }

    private func tellMixers(_ event: StageEvent) {
        let hosts = (try? stage.room(event.roomName))?.counts.hosts ?? 0
        mixers.observe(event, hasHost: hosts > 0)
    }

    private func leaveStage(_ participant: ParticipantView, room: String, because reason: String) {
        hosts.close(because: reason) { $0.participantSID == participant.sid }
        for source in [PublishSource.camera, .screen] {
            let name = HostFeedName(room: room, participantSID: participant.sid, source: source)
            feeds.close(name.text, reason: .roomEnded)
        }
    }

    private func end(_ event: StageEvent) {
        let room = event.roomName
        mixers.observe(event, hasHost: false)
        hosts.close(because: "the room has ended") { $0.room == room }
        program.close(room: room)
        livestreams.roomEnded(room)
        for feed in feeds.all where HostFeedName(feed.name)?.room == room {
            feeds.close(feed.name, reason: .roomEnded)
        }
        feeds.close(room, reason: .roomEnded)
        hls.close(room)
        viewership.roomEnded(room)
    }
}
