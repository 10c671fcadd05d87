import Foundation
import Media
import Stage

/// Looks up regions of addresses in a file in the MaxMind DB format 2.0, held in memory.
///
/// A binary tree over the bits of an address leads to a record of nested maps, of which the codes of the country and of
/// its first subdivision are read. IPv4 addresses are below `::/96`.
public struct RegionDatabase: Sendable {
    /// The reason why a file cannot be used.
    public enum Fault: Error, Equatable {
        case notThere
        /// The metadata is missing or invalid.
        case malformed
    }

    private static let marker: [UInt8] = [0xAB, 0xCD, 0xEF] + Array("MaxMind.com".utf8)
    /// The metadata is within this number of bytes at the end of the file.
    private static let metadataLimit = 128 * 1024
    /// The length of the separator between the tree and the data.
    private static let separator = 16

    private let data: MaxMindData
    private let nodeCount: Int
    private let recordSize: Int
    private let hasIPv6: Bool

    /// Reads a whole file.
    ///
    /// - Throws: `Fault`.
    public init(path: String) throws(Fault) {
        guard let data = FileManager.default.contents(atPath: path) else { throw .notThere }
        try self.init(bytes: Array(data))
    }

    init(bytes: [UInt8]) throws(Fault) {
        let tail = bytes.suffix(Self.metadataLimit)
        let starts = tail.indices.dropLast(Self.marker.count)
        guard let start = starts.last(where: { tail[$0...].starts(with: Self.marker) }) else { throw .malformed }
        var metadata = MaxMindData(bytes: bytes, base: start + Self.marker.count)
        guard case .map(let values)? = metadata.value(at: 0), case .number(let count)? = values["node_count"],
            case .number(let size)? = values["record_size"], case .number(let version)? = values["ip_version"],
            [24, 28, 32].contains(size), version == 4 || version == 6
        else { throw .malformed }
        // Each node has two records, and the tree lies before the data.
        guard count > 0, count <= UInt64(bytes.count), Int(count) * Int(size) / 4 + Self.separator <= start else {
            throw .malformed
        }
        nodeCount = Int(count)
        recordSize = Int(size)
        hasIPv6 = version == 6
        metadata = MaxMindData(bytes: bytes, base: nodeCount * recordSize / 4 + Self.separator)
        data = metadata
    }

    /// Returns the region of a numeric address, such as `DE` or `US-CA`; empty when unknown.
    public func region(of address: String) -> String {
        guard let address = PeerAddress(address), hasIPv6 || address.isIPv4 else { return "" }
        let four = address.bytes.suffix(4)
        let bits = !hasIPv6 ? Array(four) : address.isIPv4 ? [UInt8](repeating: 0, count: 12) + four : address.bytes
        var node = 0
        for byte in bits {
            for shift in stride(from: 7, through: 0, by: -1) {
                node = record(node, isRight: byte >> UInt8(shift) & 1 == 1)
                guard node != nodeCount else { return "" }
                if node > nodeCount { return code(at: node - nodeCount - Self.separator) }
            }
        }
        return ""
    }

    private func code(at offset: Int) -> String {
        guard case .map(let record)? = data.value(at: offset) else { return "" }
        guard case .map(let country)? = record["country"] ?? record["registered_country"] else { return "" }
        guard case .text(let code)? = country["iso_code"] else { return "" }
        guard case .list(let subdivisions)? = record["subdivisions"], case .map(let first)? = subdivisions.first,
            case .text(let part)? = first["iso_code"]
        else { return Region.normalized(code) }
        return Region.normalized("\(code)-\(part)")
    }

    private func record(_ node: Int, isRight: Bool) -> Int {
        let bytes = data.bytes
        let start = node * recordSize / 4
        switch recordSize {
        case 24:
            let offset = start + (isRight ? 3 : 0)
            return Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
        case 28:
            // The middle byte holds the four high bits of both records.
            let middle = Int(bytes[start + 3])
            let offset = start + (isRight ? 4 : 0)
            let high = isRight ? middle & 0x0F : middle >> 4
            return high << 24 | Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
        default:
            let offset = start + (isRight ? 4 : 0)
            return (0..<4).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
        }
    }
}

/// The data section of a MaxMind DB: typed values with pointers between them.
struct MaxMindData: Sendable {
    enum Value {
        case text(String)
        case number(UInt64)
        case map([String: Value])
        case list([Value])
        /// A value of an unused type.
        case other
    }

    /// The maximum nesting, pointers included.
    private static let depthLimit = 32
    /// The maximum number of entries of a map or list.
    private static let sizeLimit = 4096

    let bytes: [UInt8]
    /// The origin of offsets.
    let base: Int

    /// Decodes the value at an offset; nil for malformed data.
    func value(at offset: Int) -> Value? {
        guard offset >= 0, offset < bytes.count else { return nil }
        var position = base + offset
        return read(&position, depth: 0)
    }

    private func read(_ position: inout Int, depth: Int) -> Value? {
        guard depth < Self.depthLimit, let control = byte(&position) else { return nil }
        var type = Int(control >> 5)
        if type == 1 { return follow(control, &position, depth: depth) }
        if type == 0 {
            guard let more = byte(&position) else { return nil }
            type = 7 + Int(more)
        }
        guard let size = size(control, &position) else { return nil }
        switch type {
        case 2:
            guard position + size <= bytes.count else { return nil }
            defer { position += size }
            return .text(String(decoding: bytes[position..<position + size], as: UTF8.self))
        case 5, 6, 9:
            guard size <= 8, let number = number(size, &position) else { return nil }
            return .number(number)
        case 7:
            return map(size, &position, depth: depth)
        case 11:
            guard size <= Self.sizeLimit else { return nil }
            var values: [Value] = []
            for _ in 0..<size {
                guard let value = read(&position, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .list(values)
        case 14:
            // The size is the value.
            return .number(UInt64(size))
        case 3, 4, 8, 10, 15:
            guard position + size <= bytes.count else { return nil }
            position += size
            return .other
        default:
            return nil
        }
    }

    private func map(_ size: Int, _ position: inout Int, depth: Int) -> Value? {
        guard size <= Self.sizeLimit else { return nil }
        var values: [String: Value] = [:]
        for _ in 0..<size {
            guard case .text(let key)? = read(&position, depth: depth + 1) else { return nil }
            guard let value = read(&position, depth: depth + 1) else { return nil }
            values[key] = value
        }
        return .map(values)
    }

    private func follow(_ control: UInt8, _ position: inout Int, depth: Int) -> Value? {
        let length = Int(control >> 3 & 3) + 1
        guard let rest = number(length, &position) else { return nil }
        let high = length == 4 ? 0 : UInt64(control & 7) << UInt64(8 * length)
        let bias: UInt64 = [0, 2048, 526_336, 0][length - 1]
        let target = base + Int(high + rest + bias)
        guard target < bytes.count else { return nil }
        var other = target
        return read(&other, depth: depth + 1)
    }

    private func size(_ control: UInt8, _ position: inout Int) -> Int? {
        let size = Int(control & 31)
        guard size >= 29 else { return size }
        let length = size - 28
        guard let rest = number(length, &position) else { return nil }
        return Int(rest) + [29, 285, 65_821][length - 1]
    }

    private func number(_ length: Int, _ position: inout Int) -> UInt64? {
        var number: UInt64 = 0
        for _ in 0..<length {
            guard let byte = byte(&position) else { return nil }
            number = number << 8 | UInt64(byte)
        }
        return number
    }

    private func byte(_ position: inout Int) -> UInt8? {
        guard bytes.indices.contains(position) else { return nil }
        defer { position += 1 }
        return bytes[position]
    }
}

/// Normalizes codes of countries (ISO 3166-1) and their subdivisions (ISO 3166-2), as proxies write them.
enum Region {
    /// Returns `DE` or `US-CA` in upper case; empty for other texts and for codes that mean unknown.
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
