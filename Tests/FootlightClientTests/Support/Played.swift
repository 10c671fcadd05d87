import Foundation
import GatewayModel
import Stage

@testable import FootlightClient

/// Participants as a gateway tells of them, for rules that need no gateway.
enum Played {
    /// Somebody with these tracks on; each in `disabled` is published and muted.
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
            mode: mode.rawValue,
            status: status.rawValue,
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

    /// A track in any of its states.
    static func track(
        _ name: TrackName,
        published: Bool = true,
        subscribed: Bool = true,
        enabled: Bool = true
    ) -> TrackResource {
        TrackResource(
            sid: "MT-" + name.rawValue,
            name: name.rawValue,
            kind: name.kind.rawValue,
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

    /// A call of `ann` to which no gateway ever answers; its clock stands still.
    @MainActor
    static func call(_ clock: ManualClientClock = ManualClientClock()) throws -> BroadcastCall {
        let client = BroadcastClient(baseURL: try Show.address(9), token: "t", clock: clock.clock)
        return BroadcastCall(client: client, identity: "ann")
    }
}

extension BroadcastCall {
    /// Plays that the gateway let the call in, and who is in the room.
    func playJoined(_ participants: [ParticipantResource], request: Int = 1) throws {
        handle(.joinSucceeded(request: request, mode: .sendAndReceive))
        try play(participants)
    }

    /// Plays who is in the room now.
    func play(_ participants: [ParticipantResource]) throws {
        guard var next = try room ?? CallRoom(snapshot: EventResource(wire: WireFixtures.snapshot(rev: 1))) else {
            return
        }
        next.participants = participants
        show(next)
    }
}
