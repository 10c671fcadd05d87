public import NIOCore

/// The playlist that a player fetches first: it says what the program is, and where its media playlist is.
public struct MultivariantPlaylist: Sendable {
    /// The playlist of a program with one variant (RFC 8216 4.3.4).
    ///
    /// - Parameters:
    ///   - bandwidth: Bits per second that no segment exceeds.
    ///   - averageBandwidth: Bits per second on average; nil when not known.
    ///   - resolution: Width and height of the picture in pixels; nil without video.
    ///   - frameRate: Pictures per second; nil when not known or without video.
    ///   - codecs: As in `Initialization.codecs`.
    ///   - mediaURI: Address of the media playlist, relative to this one or absolute, percent-encoded.
    public static func render(
        bandwidth: Int,
        averageBandwidth: Int? = nil,
        resolution: (width: Int, height: Int)? = nil,
        frameRate: Double? = nil,
        codecs: String,
        mediaURI: String
    ) -> ByteBuffer {
        var attributes = ["BANDWIDTH=\(max(bandwidth, 1))"]
        if let averageBandwidth { attributes.append("AVERAGE-BANDWIDTH=\(max(averageBandwidth, 1))") }
        attributes.append("CODECS=\"\(codecs)\"")
        if let resolution { attributes.append("RESOLUTION=\(resolution.width)x\(resolution.height)") }
        if let frameRate { attributes.append("FRAME-RATE=\(Decimal.text(frameRate, digits: 3))") }
        return ByteBuffer(
            string: """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-STREAM-INF:\(attributes.joined(separator: ","))
                \(mediaURI)

                """
        )
    }
}
