public import Foundation

/// A block of talkback audio on its way to the room's mixer, the data of an event of
/// `GET /v1/rooms/{room}/mixer/talkback`.
public struct TalkbackBlock: Codable, Sendable, Hashable {
    /// The sids of the hosts whose return feeds are to contain it.
    public var hosts: [String]
    /// Samples of 48 kHz, one channel, 16 bits, little endian; base64 in JSON.
    public var samples: Data

    /// Creates a block.
    public init(hosts: [String], samples: Data) {
        self.hosts = hosts
        self.samples = samples
    }
}

extension TalkbackBlock {
    /// The samples per second.
    public static let sampleRate = 48_000
    /// The most samples of a block: half a second.
    public static let maximumSamples = 24_000
    /// The bytes of a sample.
    public static let sampleSize = 2
    /// The name of the events.
    package static let eventName = "talkback"

    /// The samples from -1 to 1; an incomplete last one is left out.
    package var values: [Float] {
        samples.withUnsafeBytes { bytes in
            (0..<bytes.count / Self.sampleSize).map { index in
                let bits = UInt16(bytes[index * 2]) | UInt16(bytes[index * 2 + 1]) << 8
                return Float(Int16(bitPattern: bits)) / 32_768
            }
        }
    }
}
