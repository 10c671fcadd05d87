import Codecs
import Media
import Stage

/// Encodes the program's renditions from downscaled copies of its canvas.
///
/// The program's encoder thread scales, which costs less than a millisecond a frame, and passes each size to a thread
/// of its own; so a slow rendition loses its own frames, and never delays the program or another rendition. Each size
/// is scaled from the next larger one. Owned by the encoder's thread.
final class LadderEncoder {
    private let encoders: [RenditionEncoder]
    private let audioOnlyEncoder: RenditionEncoder?

    /// - Parameters:
    ///   - hasThreads: Each rendition is encoded on a thread of its own; otherwise in the call that passes the frame.
    ///   - sink: Receives each rendition's packets with its name, with timestamps that never decrease.
    init(
        _ ladder: RenditionLadder,
        of program: ProgramConfiguration,
        encoderOptions: String,
        firstTimestamp: Int64,
        audioConfiguration: MediaPacket,
        hasThreads: Bool,
        sink: @escaping @Sendable (_ rendition: String, MediaPacket) -> Void
    ) throws(CodecError) {
        var encoders: [RenditionEncoder] = []
        for rendition in ladder.renditions {
            let video = try RenditionVideoEncoder(
                rendition,
                of: program,
                encoderOptions: encoderOptions,
                firstTimestamp: firstTimestamp
            )
            let name = rendition.name
            encoders.append(
                RenditionEncoder(
                    name,
                    video: video,
                    audioConfiguration: audioConfiguration,
                    hasThread: hasThreads
                ) { packet in sink(name, packet) }
            )
        }
        self.encoders = encoders
        audioOnlyEncoder =
            ladder.hasAudioOnly
            ? RenditionEncoder(
                RenditionLadder.audioName,
                video: nil,
                audioConfiguration: audioConfiguration,
                hasThread: hasThreads
            ) { packet in sink(RenditionLadder.audioName, packet) } : nil
    }

    /// Encodes program frame `index` in all renditions.
    func writeFrame(_ canvas: Canvas, index: Int64, isKey: Bool) {
        var source = canvas
        for encoder in encoders {
            // A rendition without a free canvas leaves the next larger one as the source.
            if let scaled = encoder.writeFrame(from: source, index: index, isKey: isKey) { source = scaled }
        }
    }

    /// Sets how much of their search the encoders skip, 0 to 2, from the next keyframe on.
    func setSpeedLevel(to level: Int) {
        for encoder in encoders { encoder.setSpeedLevel(to: level) }
    }

    /// Adds an AAC frame of the program.
    ///
    /// - Parameter hasVideo: The renditions with video are encoded at present; the audio-only one always is.
    func writeAudio(_ packet: MediaPacket, hasVideo: Bool) {
        if hasVideo { for encoder in encoders { encoder.writeAudio(packet) } }
        audioOnlyEncoder?.writeAudio(packet)
    }

    /// Declares that no audio earlier than `timestamp` (milliseconds) will follow.
    func setAudioWatermark(_ timestamp: Int64) {
        for encoder in encoders { encoder.setAudioWatermark(timestamp) }
    }

    /// Ends the renditions; returns when they have sent their last packets.
    func close() {
        for encoder in encoders { encoder.close() }
        audioOnlyEncoder?.close()
    }

    /// Statistics of each rendition.
    var statistics: [RenditionStatistics] { (encoders + [audioOnlyEncoder].compactMap(\.self)).map(\.statistics) }
}
