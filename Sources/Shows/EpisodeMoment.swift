import Stage

extension Episode {
    /// Something that happened in an episode, which may explain what its audience did.
    public struct Moment: Sendable, Hashable, Codable {
        /// What happened.
        public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
            /// The audience saw the hosts from then on.
            case wentLive = "went_live"
            /// The audience saw a slate from then on.
            case wentBackstage = "went_backstage"
            /// A host came.
            case hostJoined = "host_joined"
            /// A host went.
            case hostLeft = "host_left"
            /// The layout became another one.
            case layoutChanged = "layout_changed"
            /// A scene was put on air.
            case sceneTaken = "scene_taken"
        }

        /// Seconds since 1970.
        public let at: Double
        /// What happened.
        public let kind: Kind
        /// The name of the host or scene, or the type of the layout; empty for the rest.
        public let name: String
    }

    /// The most moments of an episode that are kept; later ones are not recorded.
    static let momentsKept = 500

    /// What happened in the episode, in order.
    public var moments: [Moment] { recordedMoments ?? [] }

    /// Records what an event of the episode's room says, unless it is known.
    ///
    /// - Parameter layout: The type of the layout at the beginning.
    /// - Returns: Whether it was recorded.
    mutating func record(_ event: StageEvent.Payload, layout: LayoutSettings.Kind, at now: Double) -> Bool {
        switch event {
        case .participantJoined(let host) where host.mode == .sendAndReceive,
            .participantModeChanged(let host, from: _) where host.mode == .sendAndReceive:
            guard last(of: host)?.kind != .hostJoined else { return false }
            return record(.hostJoined, name(of: host), at: now)
        case .participantLeft(let host, let reason)
        where host.mode == .sendAndReceive && reason != .duplicateIdentity:
            return recordEnd(of: host, at: now)
        case .participantModeChanged(let host, from: .sendAndReceive):
            return recordEnd(of: host, at: now)
        case .layoutChanged(let view):
            let present = moments.last { $0.kind == .layoutChanged }?.name ?? layout.rawValue
            guard view.settings.kind.rawValue != present else { return false }
            return record(.layoutChanged, view.settings.kind.rawValue, at: now)
        default:
            return false
        }
    }

    /// Records that the audience sees the hosts from now on, or a slate again.
    mutating func recordState(at now: Double) {
        if state == .live {
            _ = record(.wentLive, "", at: now)
        } else if wentLiveAt != nil {
            _ = record(.wentBackstage, "", at: now)
        }
    }

    /// Records that a scene is on air from now on.
    mutating func recordScene(_ scene: String, at now: Double) {
        _ = record(.sceneTaken, scene, at: now)
    }

    private mutating func recordEnd(of host: ParticipantView, at now: Double) -> Bool {
        guard last(of: host)?.kind == .hostJoined else { return false }
        return record(.hostLeft, name(of: host), at: now)
    }

    private mutating func record(_ kind: Moment.Kind, _ name: String, at now: Double) -> Bool {
        guard moments.count < Self.momentsKept else { return false }
        recordedMoments = moments + [Moment(at: now, kind: kind, name: name)]
        return true
    }

    private func last(of host: ParticipantView) -> Moment? {
        moments.last { [.hostJoined, .hostLeft].contains($0.kind) && $0.name == name(of: host) }
    }

    private func name(of host: ParticipantView) -> String {
        host.displayName.isEmpty ? host.identity : host.displayName
    }
}
