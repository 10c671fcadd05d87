import Media

/// The tracks of a program and how they are coded: what an initialization is made from.
struct ProgramFormat: Equatable {
    static let videoTrack: UInt32 = 1
    static let audioTrack: UInt32 = 2
    /// Ticks per second of the video track; a millisecond is 90 of them.
    static let videoTimescale: UInt32 = 90_000
    static let videoTicksPerMillisecond: Int64 = 90

    var video: AVCConfiguration?
    var audio: AACConfiguration?

    /// Ticks per second of the audio track: samples.
    var audioTimescale: UInt32 { UInt32(audio?.sampleRate ?? 48_000) }

    var codecs: String {
        [video?.codecString, audio?.codecString].compactMap(\.self).joined(separator: ",")
    }
}
