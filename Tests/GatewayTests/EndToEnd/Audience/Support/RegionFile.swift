/// A file in the MaxMind DB format that knows a few IPv4 networks of sixteen bits.
enum RegionFile {
    /// - Parameter countries: ISO codes by the first two numbers of an address.
    static func bytes(_ countries: [(first: UInt8, second: UInt8, code: String)]) -> [UInt8] {
        // A node is two records: nil leads nowhere, otherwise to a node, or to the data of an entry.
        enum Target {
            case node(Int)
            case entry(Int)
        }
        // IPv4 addresses are those of IPv6 that begin with 96 zeros.
        var nodes: [[Target?]] = (0..<96).map { [Target.node($0 + 1), nil] }
        nodes.append([nil, nil])
        for (index, country) in countries.enumerated() {
            var node = 96
            for step in 0..<16 {
                let byte = step < 8 ? country.first : country.second
                let bit = Int(byte >> UInt8(7 - step % 8) & 1)
                if step == 15 {
                    nodes[node][bit] = .entry(index)
                } else if case .node(let next) = nodes[node][bit] {
                    node = next
                } else {
                    nodes.append([nil, nil])
                    nodes[node][bit] = .node(nodes.count - 1)
                    node = nodes.count - 1
                }
            }
        }
        let entries = countries.map { map([("country", map([("iso_code", text($0.code))]))]) }
        let tree = nodes.joined().flatMap { target -> [UInt8] in
            let value =
                switch target {
                case nil: nodes.count
                case .node(let number): number
                case .entry(let index): nodes.count + 16 + entries[..<index].reduce(0) { $0 + $1.count }
                }
            return [UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
        }
        let metadata = map([
            ("node_count", [0xC2, UInt8(nodes.count >> 8), UInt8(nodes.count & 255)]),
            ("record_size", [0xA1, 24]),
            ("ip_version", [0xA1, 6]),
        ])
        var file = tree
        file += [UInt8](repeating: 0, count: 16)
        for entry in entries { file += entry }
        file += [0xAB, 0xCD, 0xEF]
        file += Array("MaxMind.com".utf8)
        return file + metadata
    }

    private static func text(_ text: String) -> [UInt8] { [0x40 | UInt8(text.utf8.count)] + Array(text.utf8) }

    private static func map(_ entries: [(String, [UInt8])]) -> [UInt8] {
        [0xE0 | UInt8(entries.count)] + entries.flatMap { text($0.0) + $0.1 }
    }
}
