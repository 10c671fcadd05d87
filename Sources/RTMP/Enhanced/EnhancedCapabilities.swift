/// What a peer said about enhanced RTMP in its `connect` (enhanced RTMP 2, "Enhancing NetConnection connect Command").
public struct EnhancedCapabilities: Sendable, Equatable {
    /// What a peer can do with a codec.
    public struct Support: OptionSet, Sendable, Hashable {
        /// The bits as they are on the wire.
        public let rawValue: Int

        /// Takes the bits as they are on the wire.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Can decode it.
        public static let decode = Support(rawValue: 1)
        /// Can encode it.
        public static let encode = Support(rawValue: 2)
        /// Can pass it on as it is.
        public static let forward = Support(rawValue: 4)
    }

    /// What a peer can do beside codecs.
    public struct Extensions: OptionSet, Sendable, Hashable {
        /// The bits as they are on the wire.
        public let rawValue: Int

        /// Takes the bits as they are on the wire.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Connects again when it is asked to.
        public static let reconnect = Extensions(rawValue: 1)
        /// Knows messages with several tracks.
        public static let multitrack = Extensions(rawValue: 2)
        /// Knows packet modifiers.
        public static let modifiers = Extensions(rawValue: 4)
        /// Knows the modifier for finer times.
        public static let nanosecondOffset = Extensions(rawValue: 8)
    }

    /// The codecs of `fourCcList`; `*` stands for all.
    public var codecs: Set<String> = []
    /// What the peer can do with video codecs, by their four letters.
    public var video: [String: Support] = [:]
    /// What the peer can do with audio codecs, by their four letters.
    public var audio: [String: Support] = [:]
    /// What the peer can do beside codecs.
    public var extensions: Extensions = []

    /// A peer that said nothing.
    public init() {}

    /// Reads the properties of `connect`'s command object; what is missing or of the wrong type counts as absent.
    init(_ properties: AMF0Object) {
        codecs = Set((properties["fourCcList"]?.list ?? []).compactMap(\.string))
        video = Self.support(properties["videoFourCcInfoMap"])
        audio = Self.support(properties["audioFourCcInfoMap"])
        extensions = Extensions(rawValue: Self.flags(properties["capsEx"]))
    }

    private static func support(_ map: AMF0Value?) -> [String: Support] {
        var result: [String: Support] = [:]
        for entry in map?.object?.entries ?? [] {
            result[entry.key] = Support(rawValue: flags(entry.value))
        }
        return result
    }

    private static func flags(_ value: AMF0Value?) -> Int {
        guard let number = value?.number, number >= 0, number <= 65_535 else { return 0 }
        return Int(number)
    }

    /// What this server answers: the codecs it takes, and packet modifiers.
    static let ours: [AMF0Object.Entry] = [
        .init(key: "fourCcList", value: .list(["avc1", "mp4a", ".mp3"])),
        .init(key: "videoFourCcInfoMap", value: .object(["avc1": 5])),
        .init(key: "audioFourCcInfoMap", value: .object(["mp4a": 5, ".mp3": 5])),
        .init(
            key: "capsEx",
            value: .number(Double(Extensions([.reconnect, .multitrack, .modifiers, .nanosecondOffset]).rawValue))
        ),
    ]
}
