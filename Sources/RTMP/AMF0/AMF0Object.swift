/// The properties of an AMF0 object in the order in which they were written.
struct AMF0Object: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One property.
    struct Entry: Sendable, Equatable {
        var key: String
        var value: AMF0Value

        init(key: String, value: AMF0Value) {
            self.key = key
            self.value = value
        }
    }

    var entries: [Entry]

    init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    init(dictionaryLiteral elements: (String, AMF0Value)...) {
        entries = elements.map { Entry(key: $0.0, value: $0.1) }
    }

    /// The value of the first property of that name; nil when there is none.
    subscript(key: String) -> AMF0Value? {
        entries.first { $0.key == key }?.value
    }

    /// As the subscript, but upper and lower case are the same: some encoders write `tcurl`.
    func value(ignoringCaseOf key: String) -> AMF0Value? {
        let key = key.lowercased()
        return entries.first { $0.key.lowercased() == key }?.value
    }

    mutating func append(_ key: String, _ value: AMF0Value) {
        entries.append(Entry(key: key, value: value))
    }
}
