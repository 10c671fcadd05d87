import FootlightTesting
import Foundation
import FootlightModel
import Stage

@testable import FootlightClient

/// Participants, tracks and calls for tests without a gateway.
enum SampleParticipants {
    /// Returns a participant with the given tracks on; those in `disabled` are published and muted.
    static func participant(
        _ identity: String,
        mode: ParticipantMode = .sendAndReceive,
        on tracks: [TrackName] = [],
        disabled: [TrackName] = [],
        status: ParticipantStatus = .connected,
        isDominant: Bool = false,
        pin: PinResource? = nil,
        name: String? = nil,
        avatar: String? = nil
    ) -> ParticipantResource {
        ParticipantResource(
            sid: "PA-" + identity,
            identity: identity,
            displayName: name ?? identity,
            mode: .known(mode),
            status: .known(status),
            isMicOn: tracks.contains(.mic),
            isCameraOn: tracks.contains(.camera),
            isScreenSharing: tracks.contains(.screen),
            isDominantSpeaker: isDominant,
            pin: pin,
            position: nil,
            tracks: tracks.map { track($0) } + disabled.map { track($0, enabled: false) },
            avatar: avatar,
            joinedAt: Timestamp(0),
            revision: 1
        )
    }

    /// Returns a track in any state.
    static func track(
        _ name: TrackName,
        published: Bool = true,
        subscribed: Bool = true,
        enabled: Bool = true
    ) -> TrackResource {
        TrackResource(
            sid: "MT-" + name.rawValue,
            name: .known(name),
            kind: .known(name.kind),
            published: published,
            subscribed: subscribed,
            enabled: enabled,
            mediaState: enabled ? (subscribed ? "playable" : "loading") : "off",
            width: nil,
            height: nil,
            fps: nil,
            codec: nil
        )
    }

    /// Returns a call of `ann` without a gateway; its clock stands still.
    @MainActor
    static func call(_ clock: ManualClientClock = ManualClientClock()) throws -> BroadcastCall {
        let client = BroadcastClient(baseURL: try GatewayFixture.address(9), token: "t", clock: clock.clock)
        return BroadcastCall(client: client, identity: "ann")
    }
}

extension BroadcastCall {
    /// Simulates that the gateway admitted the call, with the participants of the room.
    func simulateJoined(_ participants: [ParticipantResource], request: Int = 1) throws {
        handle(.joinSucceeded(request: request, mode: .sendAndReceive))
        try play(participants)
    }

    /// Simulates the participants of the room.
    func play(_ participants: [ParticipantResource]) throws {
        guard var next = try room ?? CallRoom(snapshot: EventResource(wire: WireFixtures.snapshot(rev: 1))) else {
            return
        }
        next.participants = participants
        show(next)
    }
}

/// Records publishing requests, and may refuse them.
@MainActor
final class RecordingTrackPublisher: TrackPublishing {
    var callSettings = CallSettings()
    /// The error with which every request is refused.
    var failure: StageError?
    /// The errors with which single requests are refused, by their log entry.
    var refusals: [String: StageError] = [:]
    /// Called before each response, so that a test can act in between.
    var meanwhile: (@MainActor () async -> Void)?
    private(set) var log: [String] = []

    func publish(_ track: TrackName, isEnabled: Bool) async throws(StageError) -> TrackResource {
        try await record("publish \(track.rawValue)\(isEnabled ? "" : " disabled")")
        return SampleParticipants.track(track, enabled: isEnabled)
    }

    func setEnabled(_ track: TrackName, _ isEnabled: Bool) async throws(StageError) -> TrackResource {
        try await record("\(isEnabled ? "enable" : "disable") \(track.rawValue)")
        return SampleParticipants.track(track, enabled: isEnabled)
    }

    func unpublish(_ track: TrackName) async throws(StageError) {
        try await record("unpublish \(track.rawValue)")
    }

    /// Returns the requests since the last call.
    func drainLog() -> [String] {
        defer { log = [] }
        return log
    }

    private func record(_ what: String) async throws(StageError) {
        log.append(what)
        let meanwhile = meanwhile
        self.meanwhile = nil
        await meanwhile?()
        if let refusal = refusals[what] ?? failure { throw refusal }
    }
}
