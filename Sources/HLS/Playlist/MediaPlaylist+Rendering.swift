public import NIOCore

extension MediaPlaylist {
    /// The playlist as players fetch it (`application/vnd.apple.mpegurl`).
    ///
    /// - Parameters:
    ///   - query: Appended to every address behind a question mark; empty for none. Written as it is, so it must be
    ///     percent-encoded.
    ///   - prefix: Put before every file name, such as `e3/`; relative to the playlist's own address.
    ///   - isLowLatency: Also lists the parts of the newest segments and announces the next part (RFC 8216bis 4.4.4.9,
    ///     4.4.5.3). It promises that the server answers blocking reloads and holds a request for the announced part.
    ///   - isDelta: Leaves out the segments older than `HLSConfiguration.skipBoundary`, and says how many they are
    ///     (RFC 8216bis 6.2.5.1); of meaning only to a low-latency playlist that goes on.
    ///   - reports: How far the other renditions are; low latency only.
    public func render(
        query: String = "",
        prefix: String = "",
        isLowLatency: Bool = false,
        isDelta: Bool = false,
        reports: [RenditionReport] = []
    ) -> ByteBuffer {
        var lines = PlaylistLines(query: query, prefix: prefix, capacity: 512 + listed.count * 512)
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
            "CAN-SKIP-UNTIL=\(Decimal.text(configuration.skipBoundary, digits: 1))",
            "HOLD-BACK=\(Decimal.text(Double(3 * configuration.targetDuration), digits: 1))",
            "PART-HOLD-BACK=\(Decimal.text(3 * target, digits: 3))",
        ]
        lines.add("#EXT-X-SERVER-CONTROL:\(attributes.joined(separator: ","))")
        lines.add("#EXT-X-PART-INF:PART-TARGET=\(Decimal.text(target, digits: 3))")
    }

    /// - Parameter count: How many of the newest list their parts too.
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
            lines.add("#EXTINF:\(Decimal.text(segment.duration, digits: 5)),")
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

    /// Segments that end less than three target durations before the playlist does: the parts of older ones are of no
    /// use to anybody (RFC 8216bis 6.2.2).
    private var countWithParts: Int {
        var age = openParts.reduce(0) { $0 + $1.duration }
        return listed.reversed().prefix { entry in
            defer { age += entry.segment.duration }
            return age < Double(3 * configuration.targetDuration) - Self.tolerance
        }.count
    }

    /// Segments that end farther before the last segment's end than the skip boundary.
    private var skippableCount: Int {
        var age = 0.0
        let kept = listed.reversed().prefix { entry in
            defer { age += entry.segment.duration }
            return age <= configuration.skipBoundary + Self.tolerance
        }.count
        return listed.count - kept
    }

    /// Sums of durations are exact to less than this many seconds.
    private static let tolerance = 0.000_1
}
