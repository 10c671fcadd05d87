import Admission
import Assets
import Egress
import FanOut
import Ingest
import Logging
import MixerProcess
import Recording
import Persistence
import Stage
import Synchronization
import Viewership

/// Passes the events of the stage to the components that act on them.
///
/// Called in order by the thread that caused the event; must not block.
struct StageEventDispatcher: Sendable {
    let stage: RoomDirectory
    let hosts: HostIngest
    let mixers: MixerSupervisor
    let program: ProgramIngest
    let previews: PreviewFeeds
    let feeds: FeedDirectory
    let hls: HLSController
    let playlists: HLSDirectory
    let livestreams: Livestreams
    let recordings: RecordingController
    let viewership: ViewershipLedger
    let gate: AudienceGate
    let roomStore: RoomStore
    let assets: AssetStore
    let degradation: DegradationLog
    let logger: Logger

    func dispatch(_ event: StageEvent) {
        let room = event.roomName
        switch event.payload {
        case .roomCreated(let view):
            open(view)
            notifyMixers(event)
            updateLivestreams(room)
        case .participantJoined(let participant), .participantUpdated(let participant),
            .participantReconnected(let participant), .participantReconnecting(let participant, _):
            updateViewer(participant, room: room)
            updateReturnFeed(of: participant, room: room)
            if case .participantJoined = event.payload {
                gate.readmit(participant.identity, to: room)
                notifyMixers(event)
            }
        case .participantLeft(let participant, let reason):
            // A participant who joined again stays counted, and is updated by that event.
            if reason != .duplicateIdentity { viewership.participantLeft(room: room, identity: participant.identity) }
            if reason == .removed { gate.remove(participant.identity, from: room) }
            closeHostStreams(participant, room: room, because: "the host has left the room")
            notifyMixers(event)
            updateLivestreams(room)
        case .participantModeChanged(let participant, let old):
            updateViewer(participant, room: room)
            if old == .sendAndReceive { closeHostStreams(participant, room: room, because: "not a host any more") }
            notifyMixers(event)
            updateLivestreams(room)
        case .trackPublished, .trackUnpublished, .trackEnabled, .trackDisabled:
            updateLivestreams(room)
        case .dominantSpeakerChanged(let change):
            log(change, room: room)
        case .roomEnded(let view):
            degradation.roomEnded(room)
            end(event)
            if view.lingerTime == 0 { endProgram(event) }
        case .roomUpdated(let view) where view.status == .completed:
            endProgram(event)
        case .roomUpdated(let view):
            degradation.update(view)
            updateAccess(view)
            updatePreview(view)
        default:
            break
        }
        if event.changesRecord { roomStore.markChanged(room: event.roomSID) }
    }

    /// Applies who may watch a room.
    private func updateAccess(_ room: RoomView) {
        let access = room.settings.audienceAccess
        gate.setAccess(access, of: room.name, createdAt: room.createdAt)
        playlists.setPrivate(room.name, !access.isUnrestricted)
    }

    /// Prepares the components for a room that was created, or restored with its participants.
    private func open(_ room: RoomView) {
        updateAccess(room)
        viewership.roomBegan(room.name, sid: room.sid)
        viewership.limitAudience(of: room.name, to: room.settings.maximumAudience)
        viewership.setBitrates(room.name, room.settings.program.bitrates)
        let (feed, renditions) = feeds.open(room.name, with: room.settings.program.ladder)
        hls.roomBegan(room.name, feed: feed, renditions: renditions, isExpected: room.isExpectedOnAir)
        recordings.roomBegan(
            room.name,
            sid: room.sid,
            gopSeconds: Double(room.settings.program.keyInterval),
            isRecorded: room.settings.isRecorded ?? false
        )
        for participant in room.participants { updateViewer(participant, room: room.name) }
        updatePreview(room)
    }

    /// Opens the preview of a room that is backstage, and ends it when the room goes live.
    private func updatePreview(_ room: RoomView) {
        viewership.setWithheld(room.name, room.isBackstage && !room.wasOnAir)
        let name = PreviewFeedName(room: room.name)
        guard !room.isBackstage else { return previews.open(name) }
        endPreview(name)
    }

    private func endPreview(_ name: PreviewFeedName) {
        guard feeds.feed(name.text) != nil else { return }
        previews.close(name)
        program.close(name)
    }

    /// Updates the ledger: connected and reconnecting audience counts, hosts do not.
    private func updateViewer(_ participant: ParticipantView, room: String) {
        switch (participant.mode, participant.status) {
        case (.receiveOnly, .connected), (.receiveOnly, .reconnecting):
            viewership.participantWatching(room: room, identity: participant.identity)
        case (.receiveOnly, .connecting):
            // Not connected yet; a former session of the same identity may still be.
            break
        case (.sendAndReceive, .connecting), (.sendAndReceive, .connected), (.sendAndReceive, .reconnecting):
            viewership.participantHosting(room: room, identity: participant.identity)
        case (_, .disconnected), (.signallingOnly, _):
            viewership.participantLeft(room: room, identity: participant.identity)
        }
    }

    private func notifyMixers(_ event: StageEvent) {
        let hosts = (try? stage.room(event.roomName))?.counts.hosts ?? 0
        mixers.observe(event, hasHost: hosts > 0)
    }

    /// Reports whether any host's media is enabled, which decides whether an idle livestream continues.
    private func updateLivestreams(_ room: String) {
        let hosts = (try? stage.room(room))?.hosts ?? []
        livestreams.hostsMuted(room: room, !hosts.contains { $0.tracks.contains(where: \.isEnabled) })
    }

    private func closeHostStreams(_ participant: ParticipantView, room: String, because reason: String) {
        hosts.close(because: reason) { $0.participantSID == participant.sid }
        feeds.closeHost(participant.sid, room: room)
        program.close(ReturnFeedName(room: room, identity: participant.identity))
    }

    /// Closes the return feed of a host that has disabled it.
    private func updateReturnFeed(of participant: ParticipantView, room: String) {
        let name = ReturnFeedName(room: room, identity: participant.identity)
        guard !participant.isReturnFeedEnabled, feeds.feed(name.text) != nil else { return }
        program.close(name)
    }

    private func log(_ change: SpeakerChange, room: String) {
        logger.info(
            "dominant speaker changed",
            metadata: [
                "room": "\(room)", "speaker": "\(change.participantSID ?? "none")",
                "previous": "\(change.previousSID ?? "none")", "reason": "\(change.reason.rawValue)",
            ]
        )
    }

    /// Disconnects all hosts; the program may linger with its audience and outputs.
    private func end(_ event: StageEvent) {
        let room = event.roomName
        mixers.observe(event, hasHost: false)
        endPreview(PreviewFeedName(room: room))
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
        // A mixer that was still running may have opened its inputs again.
        for feed in feeds.all where HostFeedName(feed.name)?.room == room {
            feeds.close(feed.name, reason: .roomEnded)
        }
        hls.roomEnded(room)
        feeds.closeRenditions(of: room, reason: .roomEnded)
        feeds.close(room, reason: .roomEnded)
        viewership.roomEnded(room)
        viewership.limitAudience(of: room, to: nil)
        gate.roomEnded(room)
        assets.roomEnded(event.roomSID)
    }
}

extension RoomView {
    /// Whether the program is expected soon: it was on air before a restart, has hosts, or has a starting slate.
    fileprivate var isExpectedOnAir: Bool {
        wasOnAir || !hosts.isEmpty || settings.layout.slates.startingSoon != nil
    }
}

extension ProgramConfiguration {
    /// The bitrates of the program, under the empty name, and of its renditions, in kbit/s with audio.
    fileprivate var bitrates: [String: Int] {
        var bitrates = ["": videoBitrate + audioBitrate]
        for rendition in ladder?.renditions ?? [] { bitrates[rendition.name] = rendition.videoBitrate + audioBitrate }
        if ladder?.hasAudioOnly ?? false { bitrates[RenditionLadder.audioName] = audioBitrate }
        return bitrates
    }
}

extension StageEvent {
    /// Whether the event changes persistent state.
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

/// Reports the changes of a room's livestream to the stage: its own state, and that of each changed output.
///
/// `Livestreams` passes the whole status after any change, from one thread.
final class LivestreamEventEmitter: Sendable {
    private let stage: RoomDirectory
    private let reported = Mutex<[String: LivestreamStatus]>([:])

    init(stage: RoomDirectory) {
        self.stage = stage
    }

    func changed(room: String, _ status: LivestreamStatus) {
        let before = reported.withLock { reported in
            defer { reported[room] = status.state == .stopped ? nil : status }
            return reported[room]
        }
        for output in Self.changed(from: before, to: status) { stage.outputChanged(room: room, output) }
        if Self.stateChanged(before, status) { stage.livestreamChanged(room: room, status) }
    }

    /// Returns the outputs whose state or error has changed.
    static func changed(from before: LivestreamStatus?, to status: LivestreamStatus) -> [OutputStatus] {
        let known = Dictionary((before?.outputs ?? []).map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        return status.outputs.filter { output in
            guard let old = known[output.name] else { return output.state != .connecting }
            return old.state != output.state || old.lastFault != output.lastFault || old.usesBackup != output.usesBackup
        }
    }

    /// Returns whether the livestream's state or its set of outputs has changed.
    static func stateChanged(_ before: LivestreamStatus?, _ status: LivestreamStatus) -> Bool {
        before?.state != status.state || before?.outputs.map(\.name) != status.outputs.map(\.name)
    }
}
