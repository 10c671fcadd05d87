/// A large place and a strip below it: the first fills the stage, the others follow in the same order.
public struct SpeakerStage<Participant: Sendable>: Sendable {
    /// Who fills the stage, the whole picture seen; nil for an empty call, where a placeholder is shown.
    public let stage: Participant?
    /// Everybody else.
    public let strip: [Participant]
    /// How the stage is fitted.
    public let scaleMode = VideoScaleMode.fit

    /// Whether there is a strip at all.
    public var hasStrip: Bool { !strip.isEmpty }

    /// Puts participants, who are in order, into their places.
    public init(_ participants: some Sequence<Participant>) {
        let all = Array(participants)
        stage = all.first
        strip = Array(all.dropFirst())
    }
}

extension SpeakerStage: Equatable where Participant: Equatable {}
