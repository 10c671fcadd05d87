public import NIOCore

/// The sliding window of a live program: the available segments and their playlist (RFC 8216).
///
/// Accepts the output of a `Segmenter` in order. Segments remain available for a while after they left the list, since
/// a player may use an older playlist. Buffers are shared with all responses without copies.
public struct MediaPlaylist: Sendable {
    struct Entry {
        var segment: Segment
        var parts: [Part]
        /// The wall-clock time of the segment's start, in seconds since 1970.
        var wallClock: Double
    }

    let configuration: HLSConfiguration
    /// The stored segments, oldest first; the first `graceCount` are no longer listed.
    private(set) var entries: [Entry] = []
    private(set) var graceCount = 0
    /// The parts of the open segment.
    private(set) var openParts: [Part] = []
    private var initializations: [Initialization] = []
    /// A wall-clock time and the corresponding time of the feed's clock.
    private var anchor: (wallClock: Double, feed: Double)?
    private var byteCount = 0

    /// EXT-X-MEDIA-SEQUENCE: the number of the first listed segment.
    public private(set) var mediaSequence = 0
    /// EXT-X-DISCONTINUITY-SEQUENCE: the number of discontinuities that have left the list.
    public private(set) var discontinuitySequence = 0
    /// Whether the program has ended.
    public private(set) var isEnded = false

    /// Creates an empty playlist; `configuration` must be the segmenter's.
    ///
    /// - Parameter discontinuitySequence: The number of discontinuities before this playlist.
    public init(_ configuration: HLSConfiguration = HLSConfiguration(), discontinuitySequence: Int = 0) {
        self.configuration = configuration
        self.discontinuitySequence = discontinuitySequence
    }

    /// Appends the next output of the segmenter.
    ///
    /// - Parameter wallClock: The current time in seconds since 1970. It dates only the first part after a
    ///   discontinuity; later dates follow the feed's clock and so advance with the media.
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

    /// Ends the playlist and discards the parts of the open segment.
    public mutating func end() {
        isEnded = true
        byteCount -= openParts.reduce(0) { $0 + $1.data.readableBytes }
        openParts.removeAll()
    }

    /// Whether at least one complete segment is listed.
    public var isPlayable: Bool { graceCount < entries.count }

    /// The listed segments, oldest first.
    public var segments: [Segment] { listed.map(\.segment) }

    /// Whether every segment, current and future with unchanged settings, begins with a keyframe.
    ///
    /// Requires two segments, since the first always begins with a keyframe.
    public var isIndependent: Bool { listed.count > 1 && listed.allSatisfy(\.segment.isIndependent) }

    /// The newest initialization segment, which states codecs, frame size and frame rate.
    public var initialization: Initialization? { initializations.last }

    /// The bytes of stored media.
    public var storedBytes: Int { byteCount }

    /// The highest bit rate of a listed segment in bits per second; nil before the first (BANDWIDTH, RFC 8216 4.3.4.2).
    public var peakBandwidth: Int? {
        listed.map { Self.bandwidth(bytes: $0.segment.byteCount, seconds: $0.segment.duration) }.max()
    }

    /// The average bit rate of the listed segments in bits per second; nil before the first (AVERAGE-BANDWIDTH).
    public var averageBandwidth: Int? {
        guard isPlayable else { return nil }
        let bytes = listed.reduce(0) { $0 + $1.segment.byteCount }
        return Self.bandwidth(bytes: bytes, seconds: listed.reduce(0) { $0 + $1.segment.duration })
    }

    /// Converts a time of the feed's clock to the wall clock.
    func date(of feed: Double) -> Double? {
        anchor.map { $0.wallClock + feed - $0.feed }
    }

    var listed: ArraySlice<Entry> { entries[graceCount...] }

    private static func bandwidth(bytes: Int, seconds: Double) -> Int {
        Int((Double(bytes * 8) / max(seconds, 0.001)).rounded(.up))
    }

    private mutating func roll() {
        while listed.count > configuration.windowLength, canUnlistFirst { unlistFirst() }
        while graceCount > configuration.graceLength { evictFirst() }
        while byteCount > configuration.maximumBytes, entries.count > 1 {
            if graceCount == 0 { unlistFirst() }
            evictFirst()
        }
        if let first = listed.first { mediaSequence = first.segment.sequence }
        let newest = initializations.last?.name
        let needed = Set(entries.map(\.segment.initialization))
        initializations.removeAll { $0.name != newest && !needed.contains($0.name) }
    }

    /// Whether the list lasts three target durations without its first segment (RFC 8216bis 6.2.2).
    private var canUnlistFirst: Bool {
        let rest = listed.dropFirst().reduce(0) { $0 + $1.segment.duration }
        return rest >= Double(3 * configuration.targetDuration)
    }

    private mutating func unlistFirst() {
        guard let first = listed.first else { return }
        if first.segment.isDiscontinuity { discontinuitySequence += 1 }
        graceCount += 1
    }

    private mutating func evictFirst() {
        guard graceCount > 0 else { return }
        byteCount -= entries.removeFirst().segment.byteCount
        graceCount -= 1
    }

    // MARK: Files

    /// Returns the buffers of an initialization segment, segment or part, in order; nil if it does not exist or was
    /// evicted.
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

extension MediaPlaylist {
    /// Whether the playlist satisfies a blocking request.
    public enum Readiness: Sendable, Equatable {
        /// The response can be sent now.
        case ready
        /// The response must wait for more media.
        case later
        /// The request is too far ahead, which is answered with status 400.
        case tooFar
    }

    /// The position of the next part, which the playlist announces.
    public var nextPart: PartPosition {
        if let open = openParts.last { return PartPosition(sequence: open.sequence, index: open.index + 1) }
        return PartPosition(sequence: (entries.last?.segment.sequence ?? mediaSequence - 1) + 1, index: 0)
    }

    /// Returns whether a blocking reload can be answered now (RFC 8216bis 6.2.5.2).
    public func readiness(for directives: DeliveryDirectives) -> Readiness {
        guard let sequence = directives.sequence, !isEnded else { return .ready }
        let next = nextPart
        guard let part = directives.part else {
            if sequence < next.sequence { return .ready }
            return sequence > next.sequence + 1 ? .tooFar : .later
        }
        if sequence < next.sequence {
            // A part index beyond the newest segment refers to the first part of the next one.
            let rolls = sequence == next.sequence - 1 && part >= (entries.last?.parts.count ?? 0)
            return rolls && next.index == 0 ? .later : .ready
        }
        if sequence > next.sequence + 1 { return .tooFar }
        let known = sequence == next.sequence ? next.index : 0
        if part < known { return .ready }
        return part - known >= configuration.advancePartLimit ? .tooFar : .later
    }

    /// Returns the position of the announced part if it has this name.
    public func announcedPart(named name: String) -> PartPosition? {
        guard !isEnded else { return nil }
        let next = nextPart
        return MediaName(name) == .part(next.sequence, next.index) ? next : nil
    }
}

extension MediaPlaylist {
    /// Renders the playlist (`application/vnd.apple.mpegurl`).
    ///
    /// - Parameters:
    ///   - query: Appended to every URI after a question mark, already percent-encoded; empty for none.
    ///   - prefix: Put before every file name, such as `e3/`; relative to the playlist's own URI.
    ///   - tag: Tags the file names; nil for plain names.
    ///   - isLowLatency: Also lists the parts of the newest segments and a preload hint (RFC 8216bis 4.4.4.9, 4.4.5.3);
    ///     requires that the server supports blocking reloads and blocks requests for the announced part.
    ///   - isDelta: Replaces the segments older than `HLSConfiguration.skipBoundary` with EXT-X-SKIP (RFC 8216bis
    ///     6.2.5.1); applies only to a low-latency playlist that has not ended.
    ///   - reports: The rendition reports; low latency only.
    public func render(
        query: String = "",
        prefix: String = "",
        tag: FileTag? = nil,
        isLowLatency: Bool = false,
        isDelta: Bool = false,
        reports: [RenditionReport] = []
    ) -> ByteBuffer {
        var lines = PlaylistLines(query: query, prefix: prefix, tag: tag, capacity: 512 + listed.count * 512)
        lines.add("#EXTM3U")
        lines.add(isLowLatency ? "#EXT-X-VERSION:9" : "#EXT-X-VERSION:7")
        lines.add("#EXT-X-TARGETDURATION:\(configuration.targetDuration)")
        if isLowLatency { addServerControl(to: &lines) }
        lines.add("#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)")
        if discontinuitySequence > 0 { lines.add("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)") }
        if listed.allSatisfy(\.segment.isIndependent) { lines.add("#EXT-X-INDEPENDENT-SEGMENTS") }
        let skipped = isLowLatency && isDelta && !isEnded ? skippableCount : 0
        if skipped > 0 { lines.add("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)") }
        addSegments(listed.dropFirst(skipped), withParts: isLowLatency ? countWithParts : 0, to: &lines)
        if isEnded {
            lines.add("#EXT-X-ENDLIST")
        } else if isLowLatency {
            addOpenParts(to: &lines)
            for report in reports { lines.add(report) }
        }
        return lines.text
    }

    private func addServerControl(to lines: inout PlaylistLines) {
        let target = Double(configuration.partTargetMilliseconds) / 1000
        let attributes = [
            "CAN-BLOCK-RELOAD=YES",
            "CAN-SKIP-UNTIL=\(DecimalText.text(configuration.skipBoundary, digits: 1))",
            "HOLD-BACK=\(DecimalText.text(Double(3 * configuration.targetDuration), digits: 1))",
            "PART-HOLD-BACK=\(DecimalText.text(3 * target, digits: 3))",
        ]
        lines.add("#EXT-X-SERVER-CONTROL:\(attributes.joined(separator: ","))")
        lines.add("#EXT-X-PART-INF:PART-TARGET=\(DecimalText.text(target, digits: 3))")
    }

    /// - Parameter count: The number of newest segments that list their parts.
    private func addSegments(_ entries: ArraySlice<Entry>, withParts count: Int, to lines: inout PlaylistLines) {
        for (position, entry) in entries.enumerated() {
            let segment = entry.segment
            lines.beginSegment(
                isDiscontinuity: segment.isDiscontinuity,
                initialization: segment.initialization,
                date: entry.wallClock
            )
            if entries.count - position <= count {
                for part in entry.parts { lines.add(part) }
            }
            lines.add("#EXTINF:\(DecimalText.text(segment.duration, digits: 5)),")
            lines.add(file: segment.name)
        }
    }

    private func addOpenParts(to lines: inout PlaylistLines) {
        if let first = openParts.first {
            lines.beginSegment(
                isDiscontinuity: first.isDiscontinuity,
                initialization: first.initialization,
                date: date(of: first.start)
            )
            for part in openParts { lines.add(part) }
        }
        lines.add("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=", quotedFile: nextPart.name)
    }

    /// The number of segments within three target durations of the end; parts of older ones are not listed
    /// (RFC 8216bis 6.2.2).
    private var countWithParts: Int {
        var age = openParts.reduce(0) { $0 + $1.duration }
        return listed.reversed().prefix { entry in
            defer { age += entry.segment.duration }
            return age < Double(3 * configuration.targetDuration) - Self.tolerance
        }.count
    }

    /// The number of segments older than the skip boundary.
    private var skippableCount: Int {
        var age = 0.0
        let retainedCount = listed.reversed().prefix { entry in
            defer { age += entry.segment.duration }
            return age <= configuration.skipBoundary + Self.tolerance
        }.count
        return listed.count - retainedCount
    }

    /// The error bound of summed durations in seconds.
    private static let tolerance = 0.000_1
}

/// The newest part of another rendition, so that a player that switches requests the right part.
public struct RenditionReport: Sendable, Equatable {
    /// The percent-encoded URI of its media playlist, relative to the playlist that contains the report.
    public var uri: String
    /// The newest part of the rendition.
    public var last: PartPosition

    /// Creates a report.
    public init(uri: String, last: PartPosition) {
        self.uri = uri
        self.last = last
    }
}
