/// Something that an app tells everybody in a room, in words that only apps understand; a reaction is one of them.
public struct CustomEvent: Sendable, Hashable {
    /// A participant that sends.
    public struct Sender: Sendable, Hashable {
        /// `PA` and 32 hexadecimal digits.
        public let participantSID: String
        /// Who it is.
        public let identity: String

        /// Makes a sender.
        public init(participantSID: String, identity: String) {
            self.participantSID = participantSID
            self.identity = identity
        }
    }

    /// What kind it is, `[A-Za-z0-9._-]{1,64}`.
    public let type: String
    /// What it says: a JSON object in its canonical text, up to 4 KiB.
    public let data: String
    /// The participant it comes from; nil for one that runs the show without being in it.
    public let sender: Sender?

    /// Makes an event; nothing is checked before it is sent.
    public init(type: String, data: String = CustomEvent.emptyData, sender: Sender? = nil) {
        self.type = type
        self.data = data
        self.sender = sender
    }

    /// The type of a reaction.
    public static let reaction = "reaction"
    /// Data that says nothing.
    public static let emptyData = "{}"
    /// Longest type, in characters.
    static let longestType = 64
    /// Most data, in bytes of its text.
    public static let mostData = 4096

    /// Checks the type and the size of the data.
    ///
    /// - Throws: 3073 naming the field.
    func validate() throws(StageError) {
        let isType = (1...Self.longestType).contains(type.utf8.count) && type.utf8.allSatisfy(Self.isAllowed)
        guard isType else {
            throw .invalidParameter(
                "type",
                "must have 1 to \(Self.longestType) characters of A-Z, a-z, 0-9, ., _ and -"
            )
        }
        guard data.utf8.first == UInt8(ascii: "{"), data.utf8.last == UInt8(ascii: "}") else {
            throw .invalidParameter("data", "must be a JSON object")
        }
        guard data.utf8.count <= Self.mostData else {
            throw .invalidParameter("data", "must have at most \(Self.mostData) bytes")
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || NameRule.isAllowed(byte)
    }
}
