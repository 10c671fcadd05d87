/// The host by which a client reached us, from its `Host` header (RFC 9110 section 7.2).
enum HostName {
    /// The name or address without the port; nil when it holds anything that does not belong into an address.
    static func parse(_ authority: String?) -> String? {
        guard let authority, !authority.isEmpty, authority.utf8.count <= 255 else { return nil }
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            let inside = authority[authority.index(after: authority.startIndex)..<end]
            guard !inside.isEmpty, inside.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
            return String(authority[...end])
        }
        let name = authority.prefix { $0 != ":" }
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default:
                false
            }
        }
        return isName && !name.isEmpty ? String(name) : nil
    }
}
