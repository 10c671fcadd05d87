public import NIOCore

extension MediaPlaylist {
    /// The playlist as players fetch it (`application/vnd.apple.mpegurl`).
    ///
    /// - Parameters:
    ///   - query: Appended to every address behind a question mark; empty for none. Written as it is, so it must be
    ///     percent-encoded.
    ///   - prefix: Put before every file name, such as `e3/`; relative to the playlist's own address.
    public func render(query: String = "", prefix: String = "") -> ByteBuffer {
        let suffix = query.isEmpty ? "\n" : "?\(query)\n"
        var text = ByteBuffer()
        text.reserveCapacity(256 + listed.count * (128 + query.utf8.count + prefix.utf8.count))
        text.writeStaticString("#EXTM3U\n#EXT-X-VERSION:7\n")
        text.writeString("#EXT-X-TARGETDURATION:\(configuration.targetDuration)\n")
        text.writeString("#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)\n")
        if discontinuitySequence > 0 {
            text.writeString("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)\n")
        }
        if listed.allSatisfy(\.segment.isIndependent) {
            text.writeStaticString("#EXT-X-INDEPENDENT-SEGMENTS\n")
        }
        var map: String?
        for entry in listed {
            let segment = entry.segment
            if segment.isDiscontinuity { text.writeStaticString("#EXT-X-DISCONTINUITY\n") }
            if segment.initialization != map {
                map = segment.initialization
                let address = prefix + segment.initialization + (query.isEmpty ? "" : "?\(query)")
                text.writeString("#EXT-X-MAP:URI=\"\(address)\"\n")
            }
            text.writeString("#EXT-X-PROGRAM-DATE-TIME:\(ProgramDateTime.text(entry.wallClock))\n")
            text.writeString("#EXTINF:\(Decimal.text(segment.duration, digits: 5)),\n")
            text.writeString(prefix)
            text.writeString(segment.name)
            text.writeString(suffix)
        }
        if isEnded { text.writeStaticString("#EXT-X-ENDLIST\n") }
        return text
    }
}
