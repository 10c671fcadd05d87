import Assets
import Egress
import FanOut
import Ingest
import Logging
import Recording
import RoomStore
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
    let hls: HLSControl
    let livestreams: Livestreams
    let recordings: RecordingControl
    let viewership: ViewershipLedger
    let keeper: RoomKeeper
    let assets: AssetStore
    let degradation: DegradationLog
    let logger: Logger

    func follow(_ event: StageEvent) {
        let room = event.roomName
        switch event.payload {
        case .roomCreated(let view):
            open(view)
            tellMixers(event)
            tellLivestreams(room)
        case .participantJoined(let participant), .participantUpdated(let participant),
            .participantReconnected(let participant), .participantReconnecting(let participant, _):
            count(participant, room: room)
            followReturn(of: participant, room: room)
            if case .participantJoined = event.payload { tellMixers(event) }
        case .participantLeft(let participant, let reason):
            // Somebody who joined anew goes on counting, and is judged by that event.
            if reason != .duplicateIdentity { viewership.participantLeft(room: room, identity: participant.identity) }
            leaveStage(participant, room: room, because: "the host has left the room")
            tellMixers(event)
            tellLivestreams(room)
        case .participantModeChanged(let participant, let old):
            count(participant, room: room)
            if old == .sendAndReceive { leaveStage(participant, room: room, because: "not a host any more") }
            tellMixers(event)
            tellLivestreams(room)
        case .trackPublished, .trackUnpublished, .trackEnabled, .trackDisabled:
            tellLivestreams(room)
        case .dominantSpeakerChanged(let change):
            log(change, room: room)
        case .roomEnded(let view):
            degradation.roomEnded(room)
            end(event)
            if view.lingerTime == 0 { endProgram(event) }
        case .roomUpdated(let view) where view.status == .completed:
            endProgram(event)
        case .roomUpdated(let view):
            degradation.follow(view)
        default:
            break
        }
        if event.changesRecord { keeper.changed(room: event.roomSID) }
    }

    /// Makes ready what a room needs: a new one, or one found again after a restart with everybody who was in it.
    private func open(_ room: RoomView) {
        viewership.roomBegan(room.name, sid: room.sid)
        viewership.limitAudience(of: room.name, to: room.settings.maximumAudience)
        viewership.setBitrates(room.name, room.settings.program.bitrates)
        let (feed, renditions) = feeds.open(room.name, with: room.settings.program.ladder)
        hls.roomBegan(room.name, feed: feed, renditions: renditions, isExpected: room.isExpectedOnAir)
        recordings.roomBegan(
            room.name,
            sid: room.sid,
            groupSeconds: Double(room.settings.program.keyInterval),
            isRecorded: room.settings.isRecorded ?? false
        )
        for participant in room.participants { count(participant, room: room.name) }
    }

    /// Keeps the ledger of viewers in step: those count who watch and are there, or are expected back; hosts never do.
    private func count(_ participant: ParticipantView, room: String) {
        switch (participant.mode, participant.status) {
        case (.receiveOnly, .connected), (.receiveOnly, .reconnecting):
            viewership.participantWatching(room: room, identity: participant.identity)
        case (.receiveOnly, .connecting):
            // Not there yet; or, after another self of the same person, still there.
            break
        case (.sendAndReceive, .connecting), (.sendAndReceive, .connected), (.sendAndReceive, .reconnecting):
            viewership.participantHosting(room: room, identity: participant.identity)
        case (_, .disconnected), (.signallingOnly, _):
            viewership.participantLeft(room: room, identity: participant.identity)
        }
    }

    private func tellMixers(_ event: StageEvent) {
        let hosts = (try? stage.room(event.roomName))?.counts.hosts ?? 0
        mixers.observe(event, hasHost: hosts > 0)
    }

    /// Whether anything is to be heard or seen decides whether an idle livestream goes on.
    private func tellLivestreams(_ room: String) {
        let hosts = (try? stage.room(room))?.hosts ?? []
        livestreams.hostsMuted(room: room, !hosts.contains { $0.tracks.contains(where: \.isEnabled) })
    }

    private func leaveStage(_ participant: ParticipantView, room: String, because reason: String) {
        hosts.close(because: reason) { $0.participantSID == participant.sid }
        feeds.closeHost(participant.sid, room: room)
        program.close(ReturnFeedName(room: room, identity: participant.identity))
    }

    /// A host that wants no return feed any more loses the one it has.
    private func followReturn(of participant: ParticipantView, room: String) {
        let name = ReturnFeedName(room: room, identity: participant.identity)
        guard !participant.isReturnWanted, feeds.feed(name.text) != nil else { return }
        program.close(name)
    }

    private func log(_ change: SpeakerChange, room: String) {
        logger.info(
            "the floor changes",
            metadata: [
                "room": "\(room)", "speaker": "\(change.participantSID ?? "nobody")",
                "previous": "\(change.previousSID ?? "nobody")", "reason": "\(change.reason.rawValue)",
            ]
        )
    }

    /// Everybody is out; the program may linger, and with it its audience and its outputs.
    private func end(_ event: StageEvent) {
        let room = event.roomName
        mixers.observe(event, hasHost: false)
        hosts.close(because: "the room has ended") { $0.room == room }
        for feed in feeds.all {
            if HostFeedName(feed.name)?.room == room { feeds.close(feed.name, reason: .roomEnded) }
            if let name = ReturnFeedName(feed.name), name.room == room { program.close(name) }
        }
    }

    private func endProgram(_ event: StageEvent) {
        let room = event.roomName
        mixers.programEnded(room: room)
        program.close(room: room)
        livestreams.roomEnded(room)
        recordings.roomEnded(room)
        // The mixer may have asked once more for what it had read.
        for feed in feeds.all where HostFeedName(feed.name)?.room == room {
            feeds.close(feed.name, reason: .roomEnded)
        }
        hls.roomEnded(room)
        feeds.closeRenditions(of: room, reason: .roomEnded)
        feeds.close(room, reason: .roomEnded)
        viewership.roomEnded(room)
        viewership.limitAudience(of: room, to: nil)
        assets.roomEnded(event.roomSID)
    }
}

extension RoomView {
    /// Whether the room's program comes without anybody's doing: it was on air before a restart, with hosts or their cards,
    /// or has a slate for those who come early.
    fileprivate var isExpectedOnAir: Bool {
        wasOnAir || !hosts.isEmpty || settings.layout.slates.startingSoon != nil
    }
}

extension ProgramConfiguration {
    /// Kilobits a second of what is played under each name, sound included.
    fileprivate var bitrates: [String: Int] {
        var bitrates = ["": videoBitrate + audioBitrate]
        for rendition in ladder?.renditions ?? [] { bitrates[rendition.name] = rendition.videoBitrate + audioBitrate }
        if ladder?.hasAudioOnly ?? false { bitrates[RenditionLadder.audioName] = audioBitrate }
        return bitrates
    }
}

extension StageEvent {
    /// Whether the event tells of something that must outlive the process.
    fileprivate var changesRecord: Bool {
        switch payload {
        case .dominantSpeakerChanged, .participantMediaFailed, .livestreamStateChanged, .livestreamOutputUpdated,
            .livestreamWarning, .livestreamError, .hlsStateChanged, .viewershipUpdated, .assetStored, .assetRemoved,
            .custom, .snapshot, .sessionDisconnected, .heartbeat:
            false
        case .recordingStateChanged, .recordingRotated, .recordingFailed:
            false
        default:
            true
        }
    }
}
