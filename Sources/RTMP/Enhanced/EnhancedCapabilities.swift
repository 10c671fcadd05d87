/// The enhanced RTMP capabilities that a peer declares in `connect` (enhanced RTMP 2, "Enhancing NetConnection connect
/// Command").
public struct EnhancedCapabilities: Sendable, Equatable {
    /// The operations that a peer supports for a codec.
    public struct Support: OptionSet, Sendable, Hashable {
        /// The wire value.
        public let rawValue: Int

        /// Creates a set from its wire value.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The peer can decode the codec.
        public static let decode = Support(rawValue: 1)
        /// The peer can encode the codec.
        public static let encode = Support(rawValue: 2)
        /// The peer can forward the codec unchanged.
        public static let forward = Support(rawValue: 4)
    }

    /// The protocol extensions that a peer supports (`capsEx`).
    public struct Extensions: OptionSet, Sendable, Hashable {
        /// The wire value.
        public let rawValue: Int

        /// Creates a set from its wire value.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Reconnects on request.
        public static let reconnect = Extensions(rawValue: 1)
        /// Supports multitrack messages.
        public static let multitrack = Extensions(rawValue: 2)
        /// Supports packet modifiers.
        public static let modifiers = Extensions(rawValue: 4)
        /// Supports the nanosecond offset modifier.
        public static let nanosecondOffset = Extensions(rawValue: 8)
    }

    /// The FourCC codes of `fourCcList`; `*` means all codecs.
    public var codecs: Set<String> = []
    /// The supported operations by video codec FourCC.
    public var video: [String: Support] = [:]
    /// The supported operations by audio codec FourCC.
    public var audio: [String: Support] = [:]
    /// The supported protocol extensions.
    public var extensions: Extensions = []

    /// Creates capabilities of a peer that declares none.
    public init() {}

    /// Reads the command object of `connect`; missing and mistyped properties are ignored.
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

    /// The properties that this server declares: its codecs and extensions.
    static let serverProperties: [AMF0Object.Entry] = [
        .init(key: "fourCcList", value: .list(["avc1", "mp4a", ".mp3"])),
        .init(key: "videoFourCcInfoMap", value: .object(["avc1": 5])),
        .init(key: "audioFourCcInfoMap", value: .object(["mp4a": 5, ".mp3": 5])),
        .init(
            key: "capsEx",
            value: .number(Double(Extensions([.reconnect, .multitrack, .modifiers, .nanosecondOffset]).rawValue))
        ),
    ]
}
