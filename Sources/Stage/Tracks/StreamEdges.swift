/// Tells from the states of a participant's tracks when a stream became playable and when it ceased to be.
///
/// A stream is on while its track is published, subscribed and enabled; only the edges are told, so that the same state
/// twice is told once.
public struct StreamEdges: Sendable, Equatable {
    /// The streams of a participant as listeners know them.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case audio
        case video
        /// The screen.
        case share
    }

    /// One change.
    public enum Edge: Sendable, Hashable {
        case enabled(Kind)
        case disabled(Kind)
    }

    /// The streams that are on.
    public private(set) var streams: Set<Kind> = []

    /// Begins with nothing on.
    public init() {}

    /// Takes the streams that are on now.
    ///
    /// - Returns: What changed, first what ceased and then what began, each in the order audio, video, share.
    public mutating func update(_ now: Set<Kind>) -> [Edge] {
        let before = streams
        streams = now
        let ceased = Kind.allCases.filter { before.contains($0) && !now.contains($0) }
        let began = Kind.allCases.filter { now.contains($0) && !before.contains($0) }
        return ceased.map(Edge.disabled) + began.map(Edge.enabled)
    }

    /// Takes a participant's published tracks; one that is not among them is off.
    public mutating func update(tracks: [Track]) -> [Edge] {
        update(Set(tracks.filter(\.isOn).map { Kind($0.name) }))
    }
}

extension StreamEdges.Kind {
    /// The stream that a track makes.
    public init(_ name: TrackName) {
        switch name {
        case .mic: self = .audio
        case .camera: self = .video
        case .screen: self = .share
        }
    }
}
