import Foundation
import Media
import Stage

/// An operator's file of which network is where, in the MaxMind DB format 2.0, read from memory.
///
/// A binary tree over the bits of an address leads to a record of nested maps; of those only the codes of the country and
/// of its first subdivision are read. IPv4 addresses are below `::/96`.
public struct RegionDatabase: Sendable {
    /// Why a file is of no use.
    public enum Fault: Error, Equatable {
        case notThere
        /// No metadata, or values that the format does not have.
        case malformed
    }

    private static let marker: [UInt8] = [0xAB, 0xCD, 0xEF] + Array("MaxMind.com".utf8)
    /// Bytes at the end of a file in which its metadata are.
    private static let metadataLimit = 128 * 1024
    /// Between the tree and the data.
    private static let separator = 16

    private let data: MaxMindData
    private let nodeCount: Int
    private let recordSize: Int
    private let hasIPv6: Bool

    /// Reads a file, as a whole.
    ///
    /// - Throws: `Fault`.
    public init(path: String) throws(Fault) {
        guard let data = FileManager.default.contents(atPath: path) else { throw .notThere }
        try self.init(bytes: Array(data))
    }

    init(bytes: [UInt8]) throws(Fault) {
        let tail = bytes.suffix(Self.metadataLimit)
        let places = tail.indices.dropLast(Self.marker.count)
        guard let start = places.last(where: { tail[$0...].starts(with: Self.marker) }) else { throw .malformed }
        var metadata = MaxMindData(bytes: bytes, base: start + Self.marker.count)
        guard case .map(let values)? = metadata.value(at: 0), case .number(let count)? = values["node_count"],
            case .number(let size)? = values["record_size"], case .number(let version)? = values["ip_version"],
            [24, 28, 32].contains(size), version == 4 || version == 6
        else { throw .malformed }
        // Two records a node, and room for them all before the data.
        guard count > 0, count <= UInt64(bytes.count), Int(count) * Int(size) / 4 + Self.separator <= start else {
            throw .malformed
        }
        nodeCount = Int(count)
        recordSize = Int(size)
        hasIPv6 = version == 6
        metadata = MaxMindData(bytes: bytes, base: nodeCount * recordSize / 4 + Self.separator)
        data = metadata
    }

    /// Country, or country and subdivision, of a numeric address: `DE`, `US-CA`; the empty text where nobody knows.
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
            let place = start + (isRight ? 3 : 0)
            return Int(bytes[place]) << 16 | Int(bytes[place + 1]) << 8 | Int(bytes[place + 2])
        case 28:
            // The byte in the middle holds the highest four bits of both.
            let middle = Int(bytes[start + 3])
            let place = start + (isRight ? 4 : 0)
            let high = isRight ? middle & 0x0F : middle >> 4
            return high << 24 | Int(bytes[place]) << 16 | Int(bytes[place + 1]) << 8 | Int(bytes[place + 2])
        default:
            let place = start + (isRight ? 4 : 0)
            return (0..<4).reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
        }
    }
}
