/// A country (ISO 3166-1), or a country and one of its regions (ISO 3166-2), as a proxy writes it.
enum Region {
    /// `DE`, `us-ca` as `US-CA`; the empty text for anything else, and for the codes that mean that nobody knows.
    static func normalized(_ text: String?) -> String {
        guard let text, (2...6).contains(text.utf8.count) else { return "" }
        let code = text.uppercased()
        let parts = code.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count <= 2, let country = parts.first, country.utf8.count == 2 else { return "" }
        guard country.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else { return "" }
        guard !["XX", "ZZ", "T1"].contains(country) else { return "" }
        if parts.count == 2 {
            let isCode = parts[1].utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
            guard isCode, (1...3).contains(parts[1].utf8.count) else { return "" }
        }
        return code
    }
}
