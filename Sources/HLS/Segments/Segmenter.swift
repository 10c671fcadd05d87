public import Media
import NIOCore

/// Cuts one program into CMAF parts and segments.
///
/// Packets of the program feed go in, in feed order; finished parts, segments and initializations come out. Times are
/// the feed's own, by decode time, and are written unchanged, so sound and picture keep their offset to a millisecond.
/// A part is known to be complete only when the next picture begins, so everything comes out one picture late.
///
/// A segment ends at a key picture. It ends without one only where it would otherwise outlast the target duration or
/// its share of the memory. What does not fit into the feed's order (a clock that steps back, a hole longer than a
/// segment) begins a discontinuity at the next key picture. No part outlasts its target, however unevenly pictures come,
/// and none but a segment's last is much shorter. A program that has had sound for a second and no video
/// configuration is taken for one without video.
public struct Segmenter: Sendable {
    let configuration: HLSConfiguration

    /// The program as its newest configuration packets describe it.
    var wanted = ProgramFormat()
    /// The segment in the making; nil while waiting for something to begin with.
    var current: OpenSegment?
    /// The current segment is not to go on, whatever comes next.
    var mustRestart = false
    var initialization: (name: String, format: ProgramFormat)?
    var initializationCount = 0
    var nextSequence: Int
    let firstSequence: Int
    /// Players may know segments of before the first.
    let isContinuation: Bool
    var fragmentCount: UInt32 = 0
    var soundClock = SoundClock(rate: 48_000, samplesPerFrame: 1024)
    /// Ticks from one picture to the next, as last seen.
    var pictureInterval: Int64 = 3000
    /// Sounds that came before the key picture they belong to.
    var held: [MediaPacket] = []

    /// Packets left out: damaged, of other codecs, before the first key picture, or saying again what was said.
    public internal(set) var droppedPackets = 0

    /// A segmenter for one feed.
    ///
    /// - Parameters:
    ///   - firstSequence: Media sequence number of the first segment, not negative.
    ///   - isContinuation: Whether the first segment too is marked as a discontinuity, for players that know segments of
    ///     another run.
    public init(
        _ configuration: HLSConfiguration = HLSConfiguration(),
        firstSequence: Int = 0,
        isContinuation: Bool = false
    ) {
        self.configuration = configuration
        self.isContinuation = isContinuation
        self.firstSequence = max(firstSequence, 0)
        nextSequence = self.firstSequence
    }

    /// Takes the next packet of the feed, and gives what it completed.
    public mutating func append(_ packet: MediaPacket) -> [SegmenterOutput] {
        switch packet.content {
        case .metadata, .videoEnd:
            return []
        case .videoConfiguration(.h264):
            guard let video = try? AVCConfiguration(packet.payload) else { return drop() }
            wanted.video = video
            return []
        case .audioConfiguration(.aac):
            guard let audio = try? AACConfiguration(packet.payload) else { return drop() }
            wanted.audio = audio
            return []
        case .picture(.h264, let isKey, let isDisposable):
            return take(picture: packet, isKey: isKey, isDisposable: isDisposable)
        case .sound(.aac):
            return take(sound: packet)
        case .videoConfiguration, .audioConfiguration, .picture, .sound:
            return drop()
        }
    }

    /// Says that the feed's next packets come from another encoder or clock: the next key picture begins a
    /// discontinuity, and nothing before it is taken.
    public mutating func discontinuity() {
        mustRestart = true
        held.removeAll()
    }

    /// Ends the program: gives what is in the making.
    ///
    /// Whatever is appended later begins a discontinuity.
    public mutating func finish() -> [SegmenterOutput] {
        held.removeAll()
        mustRestart = false
        return closeSegment()
    }

    mutating func drop() -> [SegmenterOutput] {
        droppedPackets += 1
        return []
    }

    /// Times that can be written: not negative, and far from overflow in any timescale.
    static let timestamps: ClosedRange<Int64> = 0...(1 << 50)
}
