import Configuration

/// Reads settings and refuses what is there but makes no sense, where the plain reader would fall back to a default.
struct SettingReader {
    private let reader: ConfigReader

    init(_ reader: ConfigReader) {
        self.reader = reader
    }

    func string(_ key: String) throws -> String? {
        guard let text = reader.string(forKey: configKey(key)) else { return nil }
        guard !text.isEmpty else { throw ConfigurationError(key: key, problem: "is empty") }
        return text
    }

    func string(_ key: String, among words: [String]) throws -> String? {
        guard let text = try string(key) else { return nil }
        guard words.contains(text) else {
            throw ConfigurationError(
                key: key,
                problem: "is \"\(text)\"; one of \(words.joined(separator: ", ")) is needed"
            )
        }
        return text
    }

    func int(_ key: String, in range: ClosedRange<Int>) throws -> Int? {
        // A file gives numbers, the command line and the environment give text.
        let text = reader.string(forKey: configKey(key))
        guard let number = reader.int(forKey: configKey(key)) ?? text.flatMap({ Int($0) }) else {
            try refuse(text, key, wanted: "a whole number")
            return nil
        }
        guard range.contains(number) else {
            throw ConfigurationError(
                key: key,
                problem: "is \(number); \(range.lowerBound) to \(range.upperBound) is allowed"
            )
        }
        return number
    }

    func bool(_ key: String) throws -> Bool? {
        if let value = reader.bool(forKey: configKey(key)) { return value }
        let text = reader.string(forKey: configKey(key))
        if let value = text.flatMap({ Bool($0.lowercased()) }) { return value }
        try refuse(text, key, wanted: "true or false")
        return nil
    }

    /// Words from a list, or from one text with commas between them.
    func strings(_ key: String) throws -> [String]? {
        let text = reader.string(forKey: configKey(key))
        let list = reader.stringArray(forKey: configKey(key)) ?? text?.split(separator: ",").map(String.init)
        return list?.map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
    }

    /// Whole numbers from a list, or from one text with commas between them.
    func ints(_ key: String, in range: ClosedRange<Int>) throws -> [Int]? {
        let list = reader.intArray(forKey: configKey(key))
        guard let list = try list ?? strings(key)?.map({ try number($0, key) }) else { return nil }
        for number in list where !range.contains(number) {
            throw ConfigurationError(
                key: key,
                problem: "holds \(number); \(range.lowerBound) to \(range.upperBound) is allowed"
            )
        }
        return list
    }

    private func number(_ text: String, _ key: String) throws -> Int {
        guard let number = Int(text) else {
            throw ConfigurationError(key: key, problem: "holds \"\(text)\"; whole numbers are needed")
        }
        return number
    }

    private func refuse(_ text: String?, _ key: String, wanted: String) throws {
        guard let text else { return }
        throw ConfigurationError(key: key, problem: "is \"\(text)\"; \(wanted) is needed")
    }

    private func configKey(_ key: String) -> ConfigKey {
        ConfigKey(key.split(separator: ".").map(String.init))
    }
}
