/// One thing about a stream that its platform does not want so.
struct Shortfall: Sendable, Hashable {
    /// What it is about.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case transport
        case size
        case frameRate
        case videoBitrate
        case rateControl
        case keyInterval
        case videoCodec
        case profile
        case level
        case change
        case reordering
        case audioCodec
        case sampleRate
        case channels
        case audioBitrate
        case duration

        /// It is the platform's rules that it is held against, rather than what the stream was meant to be.
        var isOfPlatform: Bool { self != .frameRate }
    }

    var kind: Kind
    /// For people.
    var message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
