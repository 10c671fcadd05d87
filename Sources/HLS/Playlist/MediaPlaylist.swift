public import NIOCore

/// The rolling window of a program: what can be fetched now, and how it is written down (RFC 8216).
///
/// It takes what a `Segmenter` makes, in its order. Segments leave the list at its front and can still be fetched for a
/// while, because a player may hold an older playlist. Buffers are shared with whoever serves them; nothing is copied.
public struct MediaPlaylist: Sendable {
    struct Entry {
        var segment: Segment
        var parts: [Part]
        /// When the segment began on the wall clock, in seconds since 1970.
        var wallClock: Double
    }

    let configuration: HLSConfiguration
    /// Oldest first; the first `graceCount` are not listed any more.
    private(set) var entries: [Entry] = []
    private(set) var graceCount = 0
    /// Parts of the segment that is being made.
    private(set) var openParts: [Part] = []
    private var initializations: [Initialization] = []
    /// A moment of the wall clock, and the same moment on the feed's clock.
    private var anchor: (wallClock: Double, feed: Double)?
    private var byteCount = 0

    /// EXT-X-MEDIA-SEQUENCE: the number of the first listed segment.
    public private(set) var mediaSequence = 0
    /// EXT-X-DISCONTINUITY-SEQUENCE: how many discontinuities have left the list.
    public private(set) var discontinuitySequence = 0
    /// The program is over: no segment will be added.
    public private(set) var isEnded = false

    /// An empty playlist; `configuration` must be the segmenter's.
    ///
    /// - Parameter discontinuitySequence: Discontinuities of the program before this playlist began.
    public init(_ configuration: HLSConfiguration = HLSConfiguration(), discontinuitySequence: Int = 0) {
        self.configuration = configuration
        self.discontinuitySequence = discontinuitySequence
    }

    /// Takes the next output of the segmenter.
    ///
    /// - Parameter wallClock: The moment of the call, in seconds since 1970. Only the first part after a discontinuity
    ///   is dated by it; what follows is dated by the feed's clock, so dates advance as the media does.
    public mutating func append(_ output: SegmenterOutput, wallClock: Double) {
        switch output {
        case .initialization(let initialization):
            initializations.append(initialization)
        case .part(let part):
            if anchor == nil || (part.isDiscontinuity && part.index == 0) {
                anchor = (wallClock - part.duration, part.start)
            }
            openParts.append(part)
            byteCount += part.data.readableBytes
        case .segment(let segment):
            let date = date(of: segment.start) ?? wallClock - segment.duration
            if openParts.isEmpty { byteCount += segment.byteCount }
            entries.append(Entry(segment: segment, parts: openParts, wallClock: date))
            openParts.removeAll()
            roll()
        }
    }

    /// Ends the list: no further segment will come, and what has no complete segment is forgotten.
    public mutating func end() {
        isEnded = true
        byteCount -= openParts.reduce(0) { $0 + $1.data.readableBytes }
        openParts.removeAll()
    }

    /// There is at least one complete segment to play.
    public var isPlayable: Bool { graceCount < entries.count }

    /// The listed segments, oldest first.
    public var segments: [Segment] { listed.map(\.segment) }

    /// Whether its segments, and those to come of a program that stays as it is, each begin with a key picture.
    ///
    /// The first one does in any case; only the second shows whether key pictures come as often as segments begin.
    public var isIndependent: Bool { listed.count > 1 && listed.allSatisfy(\.segment.isIndependent) }

    /// The initialization that the newest segment needs: it says codecs, picture size and frame rate.
    public var initialization: Initialization? { initializations.last }

    /// Bytes of media that are kept.
    public var storedBytes: Int { byteCount }

    /// Bits per second of the densest listed segment; nil before the first (BANDWIDTH of RFC 8216 4.3.4.2).
    public var peakBandwidth: Int? {
        listed.map { Self.bandwidth(bytes: $0.segment.byteCount, seconds: $0.segment.duration) }.max()
    }

    /// Bits per second of all listed segments together; nil before the first (AVERAGE-BANDWIDTH).
    public var averageBandwidth: Int? {
        guard isPlayable else { return nil }
        let bytes = listed.reduce(0) { $0 + $1.segment.byteCount }
        return Self.bandwidth(bytes: bytes, seconds: listed.reduce(0) { $0 + $1.segment.duration })
    }

    /// The wall clock at a moment of the feed's clock.
    func date(of feed: Double) -> Double? {
        anchor.map { $0.wallClock + feed - $0.feed }
    }

    var listed: ArraySlice<Entry> { entries[graceCount...] }

    private static func bandwidth(bytes: Int, seconds: Double) -> Int {
        Int((Double(bytes * 8) / max(seconds, 0.001)).rounded(.up))
    }

    private mutating func roll() {
        while listed.count > configuration.windowLength, staysLongEnough { unlistFirst() }
        while graceCount > configuration.graceLength { forgetFirst() }
        while byteCount > configuration.maximumBytes, entries.count > 1 {
            if graceCount == 0 { unlistFirst() }
            forgetFirst()
        }
        if let first = listed.first { mediaSequence = first.segment.sequence }
        let newest = initializations.last?.name
        let needed = Set(entries.map(\.segment.initialization))
        initializations.removeAll { $0.name != newest && !needed.contains($0.name) }
    }

    /// Whether without its first segment the list still lasts three target durations (RFC 8216bis 6.2.2).
    private var staysLongEnough: Bool {
        let rest = listed.dropFirst().reduce(0) { $0 + $1.segment.duration }
        return rest >= Double(3 * configuration.targetDuration)
    }

    private mutating func unlistFirst() {
        guard let leaving = listed.first else { return }
        if leaving.segment.isDiscontinuity { discontinuitySequence += 1 }
        graceCount += 1
    }

    private mutating func forgetFirst() {
        guard graceCount > 0 else { return }
        byteCount -= entries.removeFirst().segment.byteCount
        graceCount -= 1
    }

    // MARK: Files

    /// The bytes of an initialization, a segment or a part, in pieces to be sent one after the other; nil when it does not
    /// exist, or not any more.
    public func file(named name: String) -> [ByteBuffer]? {
        switch MediaName(name) {
        case .initialization: initializations.last { $0.name == name }.map { [$0.data] }
        case .segment(let sequence): entry(sequence)?.segment.parts
        case .part(let sequence, let index): part(index, of: sequence).map { [$0.data] }
        case nil: nil
        }
    }

    private func part(_ index: Int, of sequence: Int) -> Part? {
        let parts = openParts.first?.sequence == sequence ? openParts : entry(sequence)?.parts ?? []
        return parts.indices.contains(index) ? parts[index] : nil
    }

    private func entry(_ sequence: Int) -> Entry? {
        guard let first = entries.first?.segment.sequence else { return nil }
        let (index, overflow) = sequence.subtractingReportingOverflow(first)
        guard !overflow, entries.indices.contains(index) else { return nil }
        return entries[index]
    }
}
