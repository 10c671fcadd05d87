/// What a segmenter makes, in the order in which it is to be published.
public enum SegmenterOutput: Sendable, Equatable {
    /// The following parts need this initialization.
    case initialization(Initialization)
    /// A further part of the segment being made.
    case part(Part)
    /// The segment whose parts came before is complete.
    case segment(Segment)
}
