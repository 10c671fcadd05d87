import Media
import Mixer

/// A host by a virtual clock: says when its next packet comes, and what it is, without keeping any.
struct TimetableHost: Sendable {
    let name: String
    /// How many more seconds its clock counts in a million.
    let partsPerMillion: Double
    private let clip: FlashClip
    /// What its clock shows as it joins, milliseconds.
    private let origin: Int64
    private var joined = 0.0
    /// Packets sent since it joined; the configurations are sent first.
    private var sent = 0
    private var leaps: Int64 = 0
    private var block: Range<Double>?
    private var lastArrival = 0.0
    private(set) var input: HostInput?

    /// - Parameters:
    ///   - frequency: Kilohertz of its beep.
    ///   - origin: What its clock shows as it joins, milliseconds.
    init(_ name: String, frequency: Int, partsPerMillion: Double, origin: Int64) throws {
        self.name = name
        self.partsPerMillion = partsPerMillion
        self.origin = origin
        clip = try FlashClip(frequency: frequency)
    }

    var isOnAir: Bool { input != nil }

    mutating func join(_ input: HostInput, at time: Double) {
        (self.input, joined, lastArrival) = (input, time, time)
        (sent, leaps, block) = (0, 0, nil)
    }

    mutating func leave() { input = nil }

    /// Its clock is set, by so many milliseconds.
    mutating func leap(_ milliseconds: Int64) { leaps += milliseconds }

    /// The way is blocked for a time; what should have come in it comes within a tenth of a second at its end.
    mutating func stall(_ span: Range<Double>) { block = span }

    /// When its next packet comes, in milliseconds; nil off the air.
    var nextArrival: Double? {
        guard isOnAir else { return nil }
        let time = Double(mediaTime)
        // 30 ms on its way and up to 25 more, in an order that sound and pictures do not share.
        let jitter = Double((mediaTime * 7919 + (packet.isVideo ? 0 : 17)) % 25)
        var arrival = joined + time / (1 + partsPerMillion / 1e6) + 30 + jitter
        if let block, block.contains(arrival) {
            arrival = block.upperBound + (arrival - block.lowerBound) / (block.upperBound - block.lowerBound) * 100
        }
        return max(arrival, lastArrival)
    }

    /// Lets the next packet come.
    mutating func deliver() {
        guard let input, let arrival = nextArrival else { return }
        var packet = packet
        // Of 32 bits, as on the wire.
        packet.timestamp = (origin + mediaTime + leaps) & 0xFFFF_FFFF
        input.receive(packet, arrival: MonotonicTime(nanoseconds: Int64(arrival * 1e6)))
        lastArrival = arrival
        sent += 1
    }

    /// Milliseconds by which the beginning of its second that is nearest to `time` was away.
    ///
    /// - Parameter delay: From a moment at the host to the same in the program.
    func distance(of time: Double, delay: Double) -> Double {
        let rate = 1 + partsPerMillion / 1e6
        let second = ((time - delay - joined) * rate / 1000).rounded()
        return time - delay - joined - second * 1000 / rate
    }

    private var packet: MediaPacket {
        guard sent >= clip.configuration.count else { return clip.configuration[sent] }
        return clip.media[(sent - clip.configuration.count) % clip.media.count]
    }

    /// The packet's time since the host joined, by its own clock.
    private var mediaTime: Int64 {
        guard sent >= clip.configuration.count else { return 0 }
        let round = (sent - clip.configuration.count) / clip.media.count
        return packet.timestamp + Int64(round) * FlashClip.length
    }
}
