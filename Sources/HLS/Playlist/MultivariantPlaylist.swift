public import NIOCore

/// The playlist that a player requests first, which lists the variants of the program.
public struct MultivariantPlaylist: Sendable {
    /// A variant of the program.
    public struct Variant: Sendable, Equatable {
        /// The peak bit rate of any segment in bits per second.
        public var bandwidth: Int
        /// The average bit rate in bits per second; nil if unknown.
        public var averageBandwidth: Int?
        /// The width in pixels; nil without video.
        public var width: Int?
        /// The height in pixels; nil without video.
        public var height: Int?
        /// Frames per second; nil if unknown or without video.
        public var frameRate: Double?
        /// The codecs in the format of `Initialization.codecs`.
        public var codecs: String
        /// The percent-encoded URI of the media playlist, absolute or relative to this one.
        public var mediaURI: String
        /// Whether each of its segments begins with a keyframe.
        public var isIndependent: Bool

        /// Creates a variant.
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
            if let frameRate { attributes.append("FRAME-RATE=\(DecimalText.text(frameRate, digits: 3))") }
            return "#EXT-X-STREAM-INF:\(attributes.joined(separator: ","))\n\(mediaURI)\n"
        }
    }

    /// Renders the playlist with these variants, the default variant first (RFC 8216 4.3.4).
    public static func render(_ variants: [Variant]) -> ByteBuffer {
        // In this playlist the tag applies to every segment of every variant (RFC 8216 4.3.5.1).
        let claim = variants.allSatisfy(\.isIndependent) ? "#EXT-X-INDEPENDENT-SEGMENTS\n" : ""
        return ByteBuffer(string: "#EXTM3U\n#EXT-X-VERSION:7\n" + claim + variants.map(\.lines).joined())
    }

    /// Renders the playlist of a program with one variant (RFC 8216 4.3.4).
    ///
    /// - Parameters:
    ///   - bandwidth: The peak bit rate of any segment in bits per second.
    ///   - averageBandwidth: The average bit rate in bits per second; nil if unknown.
    ///   - resolution: The frame width and height in pixels; nil without video.
    ///   - frameRate: Frames per second; nil if unknown or without video.
    ///   - codecs: The codecs in the format of `Initialization.codecs`.
    ///   - mediaURI: The percent-encoded URI of the media playlist, absolute or relative to this one.
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
