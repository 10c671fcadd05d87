/// Counters of a program's mixer since its start.
public struct MixerStatistics: Sendable, Equatable {
    /// Processor seconds by purpose, over all threads of the mixer.
    public struct Processor: Sendable, Equatable {
        /// Decoding video.
        public var decode = 0.0
        /// Scaling, copying and blending.
        public var compose = 0.0
        /// Encoding video.
        public var encode = 0.0
        /// Decoding, mixing, limiting and encoding audio.
        public var audio = 0.0
        /// Everything else: waking up, queues, frame selection, sending packets.
        public var rest = 0.0

        /// Makes a value with all counters at zero.
        public init() {}

        /// The sum of all purposes.
        public var total: Double { decode + compose + encode + audio + rest }
    }

    /// Counters of one host's media.
    public struct Host: Sendable, Equatable {
        /// The participant's sid.
        public var id = ""
        /// Program time minus the host's own time in milliseconds; nil until the host has settled.
        public var offset: Double?
        /// Milliseconds by which the offset has moved since the host settled.
        public var offsetChange = 0.0
        /// The drift of the host's clock against ours in parts per million; positive when the host's is fast.
        public var driftPartsPerMillion = 0.0
        /// The requested playout delay in milliseconds.
        public var jitterTarget = 0.0
        /// Milliseconds from the newest packet's arrival to its presentation; negative when it came too late.
        public var buffer = 0.0
        /// Packets received.
        public var packets: Int64 = 0
        /// Packets that came after their presentation time.
        public var late: Int64 = 0
        /// Packets dropped from the inbox because the host's decoder was behind, or because they came far too late.
        public var packetsDropped: Int64 = 0
        /// Whole GOPs among the dropped packets.
        public var gopsDropped: Int64 = 0
        /// Packets of codecs that the mixer does not support.
        public var unsupported: Int64 = 0
        /// Frames decoded.
        public var frames: Int64 = 0
        /// Decoded frames that were never shown because a newer one was due.
        public var framesDropped: Int64 = 0
        /// Program frames that showed the host's last frame again.
        public var framesRepeated: Int64 = 0
        /// Times the audio ran dry and was faded to silence.
        public var audioGaps: Int64 = 0
        /// Times audio was skipped because it came too late or its offset moved.
        public var audioSkips: Int64 = 0
        /// Packets that could not be decoded.
        public var decodeErrors: Int64 = 0
        /// Discontinuities of the host's timestamps that were corrected.
        public var timestampDiscontinuities: Int64 = 0
        /// Times the offset was moved in one step.
        public var offsetSteps: Int64 = 0
        /// Processor seconds for decoding video.
        public var decodeSeconds = 0.0
        /// Seconds for downscaling frames while decoding.
        public var downscaleSeconds = 0.0
        /// Processor seconds for decoding audio.
        public var audioSeconds = 0.0

        /// Makes a host with all counters at zero.
        public init() {}
    }

    /// Processor seconds spent so far.
    public var processor = Processor()
    /// The part of `processor.audio` that was spent encoding.
    public var audioEncodeSeconds = 0.0
    /// Frames sent to the encoder.
    public var frames: Int64 = 0
    /// Frames among them that repeat the one before because the program's thread or the canvases were late.
    public var lateTicks: Int64 = 0
    /// Frames skipped because the encoder was behind.
    public var skippedFrames: Int64 = 0
    /// Frames dropped on purpose by degradation.
    public var shedFrames: Int64 = 0
    /// Times the program was more than a second late and jumped.
    public var jumps: Int64 = 0
    /// Frames left out by jumps.
    public var jumpedFrames: Int64 = 0
    /// The largest lateness of the program's thread, in milliseconds.
    public var largestLateness = 0.0
    /// Tiles scaled from a frame.
    public var tilesDrawn: Int64 = 0
    /// Tiles copied from another canvas, unchanged.
    public var tilesCopied: Int64 = 0
    /// Tiles left alone because the canvas already showed the same.
    public var tilesUnchanged: Int64 = 0
    /// Keyframes encoded.
    public var keyframes: Int64 = 0
    /// Bytes of packets handed to the sink.
    public var bytesOut: Int64 = 0
    /// Errors of the program's own encoders.
    public var encodeErrors: Int64 = 0
    /// Audio samples dropped because the encoder was too far behind.
    public var audioSamplesDropped: Int64 = 0
    /// The hosts, sorted by id.
    public var hosts: [Host] = []

    /// Makes a value with all counters at zero.
    public init() {}
}
