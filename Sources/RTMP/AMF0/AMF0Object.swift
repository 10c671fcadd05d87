/// The properties of an AMF0 object in the order in which they were written.
public struct AMF0Object: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One property.
    public struct Entry: Sendable, Equatable {
        public var key: String
        public var value: AMF0Value

        public init(key: String, value: AMF0Value) {
            self.key = key
            self.value = value
        }
    }

    public var entries: [Entry]

    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    public init(dictionaryLiteral elements: (String, AMF0Value)...) {
        entries = elements.map { Entry(key: $0.0, value: $0.1) }
    }

    /// The value of the first property of that name; nil when there is none.
    public subscript(key: String) -> AMF0Value? {
        entries.first { $0.key == key }?.value
    }

    /// As the subscript, but upper and lower case are the same: some encoders write `tcurl`.
    public func value(ignoringCaseOf key: String) -> AMF0Value? {
        let key = key.lowercased()
        return entries.first { $0.key.lowercased() == key }?.value
    }

    mutating func append(_ key: String, _ value: AMF0Value) {
        entries.append(Entry(key: key, value: value))
    }
}
