public import Stage

/// One of the outputs by which sound can be heard.
public struct AudioRoute: Sendable, Hashable, Identifiable {
    /// What sort of output it is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The loudspeaker of the device.
        case speaker
        /// What is held to the ear.
        case receiver
        /// Headphones with a cable.
        case headphones
        /// Headphones or a speaker without a cable.
        case wireless
        /// A car's speakers.
        case car
        /// A screen's speakers.
        case screen
        /// Anything else.
        case other
    }

    /// Tells the output from the others as long as it is there.
    public var id: String
    /// What the user knows it by.
    public var name: String
    /// What sort of output it is.
    public var kind: Kind

    /// Makes an output.
    public init(id: String, name: String, kind: Kind) {
        self.id = id
        self.name = name
        self.kind = kind
    }

    /// The output of a device that has no choice.
    public static let speaker = AudioRoute(id: "speaker", name: "Speaker", kind: .speaker)
}

extension StageError {
    /// 3073: the output of sound is not there, or not any more.
    public static var audioRouteMissing: StageError {
        .invalidParameter("audio_route", "must be one of the outputs that are there")
    }
}
