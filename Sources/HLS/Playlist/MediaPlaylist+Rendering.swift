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
    public func render(query: String = "", prefix: String = "", isLowLatency: Bool = false) -> ByteBuffer {
        var lines = PlaylistLines(query: query, prefix: prefix, capacity: 512 + listed.count * 1024)
        lines.add("#EXTM3U")
        lines.add(isLowLatency ? "#EXT-X-VERSION:9" : "#EXT-X-VERSION:7")
        lines.add("#EXT-X-TARGETDURATION:\(configuration.targetDuration)")
        if isLowLatency { addServerControl(to: &lines) }
        lines.add("#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)")
        if discontinuitySequence > 0 { lines.add("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)") }
        if listed.allSatisfy(\.segment.isIndependent) { lines.add("#EXT-X-INDEPENDENT-SEGMENTS") }
        for (position, entry) in listed.enumerated() {
            let segment = entry.segment
            lines.beginSegment(
                isDiscontinuity: segment.isDiscontinuity,
                initialization: segment.initialization,
                date: entry.wallClock
            )
            if isLowLatency, listed.count - position <= Self.segmentsWithParts {
                for part in entry.parts { lines.add(part) }
            }
            lines.add("#EXTINF:\(Decimal.text(segment.duration, digits: 5)),")
            lines.add(file: segment.name)
        }
        if isEnded {
            lines.add("#EXT-X-ENDLIST")
        } else if isLowLatency {
            addOpenParts(to: &lines)
        }
        return lines.text
    }

    /// Parts are worth listing for about three target durations (RFC 8216bis 6.2.2).
    private static let segmentsWithParts = 3

    private func addServerControl(to lines: inout PlaylistLines) {
        let target = Double(configuration.partTargetMilliseconds) / 1000
        let holdBack = Decimal.text(3 * target, digits: 3)
        lines.add("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=\(holdBack)")
        lines.add("#EXT-X-PART-INF:PART-TARGET=\(Decimal.text(target, digits: 3))")
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
        let next = nextPart
        lines.add(
            "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=",
            quotedFile: MediaName.part(next.sequence, next.index).text
        )
    }

    /// The part that will be appended next: its segment's media sequence number, and its place in that segment.
    public var nextPart: (sequence: Int, index: Int) {
        if let open = openParts.last { return (open.sequence, open.index + 1) }
        return ((entries.last?.segment.sequence ?? mediaSequence - 1) + 1, 0)
    }
}
