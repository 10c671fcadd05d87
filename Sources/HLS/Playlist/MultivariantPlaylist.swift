public import NIOCore

/// The playlist that a player fetches first: it says what the program is, and where its media playlist is.
public struct MultivariantPlaylist: Sendable {
    /// One way to play the program.
    public struct Variant: Sendable, Equatable {
        /// Bits per second that no segment exceeds.
        public var bandwidth: Int
        /// Bits per second on average; nil when not known.
        public var averageBandwidth: Int?
        /// Pixels across; nil without video.
        public var width: Int?
        /// Pixels down; nil without video.
        public var height: Int?
        /// Pictures per second; nil when not known or without video.
        public var frameRate: Double?
        /// As in `Initialization.codecs`.
        public var codecs: String
        /// Address of the media playlist, relative to this one or absolute, percent-encoded.
        public var mediaURI: String
        /// Whether each of its segments begins with a key picture.
        public var isIndependent: Bool

        /// Describes a way to play.
        public init(
            bandwidth: Int,
            averageBandwidth: Int? = nil,
            width: Int? = nil,
            height: Int? = nil,
            frameRate: Double? = nil,
            codecs: String,
            mediaURI: String,
            isIndependent: Bool = true
        ) {
            self.bandwidth = bandwidth
            self.averageBandwidth = averageBandwidth
            self.width = width
            self.height = height
            self.frameRate = frameRate
            self.codecs = codecs
            self.mediaURI = mediaURI
            self.isIndependent = isIndependent
        }

        fileprivate var lines: String {
            var attributes = ["BANDWIDTH=\(max(bandwidth, 1))"]
            if let averageBandwidth { attributes.append("AVERAGE-BANDWIDTH=\(max(averageBandwidth, 1))") }
            attributes.append("CODECS=\"\(codecs)\"")
            if let width, let height { attributes.append("RESOLUTION=\(width)x\(height)") }
            if let frameRate { attributes.append("FRAME-RATE=\(Decimal.text(frameRate, digits: 3))") }
            return "#EXT-X-STREAM-INF:\(attributes.joined(separator: ","))\n\(mediaURI)\n"
        }
    }

    /// The playlist of a program with these variants; a player that does not choose begins with the first
    /// (RFC 8216 4.3.4).
    public static func render(_ variants: [Variant]) -> ByteBuffer {
        // Here it is said of every segment of every variant (RFC 8216 4.3.5.1).
        let claim = variants.allSatisfy(\.isIndependent) ? "#EXT-X-INDEPENDENT-SEGMENTS\n" : ""
        return ByteBuffer(string: "#EXTM3U\n#EXT-X-VERSION:7\n" + claim + variants.map(\.lines).joined())
    }

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
        render([
            Variant(
                bandwidth: bandwidth,
                averageBandwidth: averageBandwidth,
                width: resolution?.width,
                height: resolution?.height,
                frameRate: frameRate,
                codecs: codecs,
                mediaURI: mediaURI
            )
        ])
    }
}
