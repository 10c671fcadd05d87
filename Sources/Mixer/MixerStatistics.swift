/// How a program's mixer is doing, counted since its start.
public struct MixerStatistics: Sendable, Equatable {
    /// Processor seconds by what they were spent on, over all threads of the mixer.
    public struct Processor: Sendable, Equatable {
        /// Decoding pictures.
        public var decode = 0.0
        /// Scaling, copying and painting.
        public var compose = 0.0
        /// Encoding pictures.
        public var encode = 0.0
        /// Decoding, mixing, limiting and encoding sound.
        public var sound = 0.0
        /// Everything else: waking, queues, choosing pictures, handing packets out.
        public var rest = 0.0

        /// Nothing spent yet.
        public init() {}

        /// All of it.
        public var total: Double { decode + compose + encode + sound + rest }
    }

    /// One host's media on its way into the program.
    public struct Host: Sendable, Equatable {
        /// The participant's sid.
        public var id = ""
        /// Program time minus the host's own time in milliseconds; nil until the host has settled.
        public var offset: Double?
        /// Milliseconds by which the offset has moved since the host settled.
        public var offsetChange = 0.0
        /// The host's clock against ours in parts per million; positive when the host's is fast.
        public var driftPartsPerMillion = 0.0
        /// Milliseconds its media is asked to be held back.
        public var jitterTarget = 0.0
        /// How long before its turn the newest packet came, in milliseconds; negative when it came too late.
        public var buffer = 0.0
        /// Packets received.
        public var packets: Int64 = 0
        /// Packets that came after their turn.
        public var late: Int64 = 0
        /// Packets dropped from the inbox because the host's decoder was behind, or because they came hopelessly late.
        public var packetsDropped: Int64 = 0
        /// Whole groups of pictures among them.
        public var groupsDropped: Int64 = 0
        /// Packets of codecs the mixer does not take.
        public var unsupported: Int64 = 0
        /// Pictures decoded.
        public var pictures: Int64 = 0
        /// Decoded pictures that were never shown because a newer one was due.
        public var picturesDropped: Int64 = 0
        /// Program pictures that showed the host's last picture again.
        public var picturesRepeated: Int64 = 0
        /// Times the sound broke off and was faded to silence.
        public var soundGaps: Int64 = 0
        /// Times sound was cut out because it came too late, or the place in time was moved.
        public var soundSkips: Int64 = 0
        /// Packets that could not be decoded.
        public var decodeErrors: Int64 = 0
        /// Leaps of the host's timestamps that were bridged.
        public var timestampLeaps: Int64 = 0
        /// Times the offset was moved in one step.
        public var offsetSteps: Int64 = 0
        /// Processor seconds for decoding pictures.
        public var decodeSeconds = 0.0
        /// Seconds for making pictures smaller while they were decoded.
        public var reducingSeconds = 0.0
        /// Processor seconds for decoding sound.
        public var soundSeconds = 0.0

        /// A host that has sent nothing yet.
        public init() {}
    }

    /// Processor seconds spent so far.
    public var processor = Processor()
    /// The part of `processor.sound` that was spent encoding.
    public var soundEncodeSeconds = 0.0
    /// Pictures handed to the encoder.
    public var pictures: Int64 = 0
    /// Pictures among them that repeat the one before because the program's thread or the canvases were late.
    public var lateTicks: Int64 = 0
    /// Pictures left out because the encoder was behind.
    public var skippedPictures: Int64 = 0
    /// Pictures left out on purpose, to have more time for the others.
    public var sparedPictures: Int64 = 0
    /// Times the program was more than a second late and jumped.
    public var jumps: Int64 = 0
    /// Pictures that were left out by that.
    public var jumpedPictures: Int64 = 0
    /// The latest the program's thread ever woke, in milliseconds.
    public var largestLateness = 0.0
    /// Tiles scaled from a picture.
    public var tilesDrawn: Int64 = 0
    /// Tiles copied from another canvas, unchanged.
    public var tilesCopied: Int64 = 0
    /// Tiles left alone because the canvas showed the same already.
    public var tilesKept: Int64 = 0
    /// Key pictures encoded.
    public var keyPictures: Int64 = 0
    /// Bytes of packets handed to the sink.
    public var bytesOut: Int64 = 0
    /// Errors of the program's own encoders.
    public var encodeErrors: Int64 = 0
    /// Samples of sound the encoder was too far behind to take.
    public var soundSamplesDropped: Int64 = 0
    /// By id, in order of id.
    public var hosts: [Host] = []

    /// A program that has not begun.
    public init() {}
}
