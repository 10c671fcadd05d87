/// Detects from the states of a participant's tracks when a stream becomes playable and when it stops being so.
///
/// A stream is on while its track is published, subscribed and enabled; only transitions are reported.
public struct StreamTransitions: Sendable, Equatable {
    /// The streams of a participant.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case audio
        case video
        /// The screen.
        case share
    }

    /// One transition.
    public enum Transition: Sendable, Hashable {
        case enabled(Kind)
        case disabled(Kind)
    }

    /// The streams that are on.
    public private(set) var streams: Set<Kind> = []

    /// Creates a state without streams.
    public init() {}

    /// Updates the streams that are on.
    ///
    /// - Returns: The transitions, ended streams before started ones, each in the order audio, video, share.
    public mutating func update(_ now: Set<Kind>) -> [Transition] {
        let before = streams
        streams = now
        let ceased = Kind.allCases.filter { before.contains($0) && !now.contains($0) }
        let began = Kind.allCases.filter { now.contains($0) && !before.contains($0) }
        return ceased.map(Transition.disabled) + began.map(Transition.enabled)
    }

    /// Updates the streams from a participant's published tracks; a track that is not listed is off.
    public mutating func update(tracks: [Track]) -> [Transition] {
        update(Set(tracks.filter(\.isOn).map { Kind($0.name) }))
    }
}

extension StreamTransitions.Kind {
    /// The stream of a track.
    public init(_ name: TrackName) {
        switch name {
        case .mic: self = .audio
        case .camera: self = .video
        case .screen: self = .share
        }
    }
}
