import DequeModule
import Media

/// Merges the video and audio packets of two encoders by non-decreasing timestamps.
///
/// A packet is emitted as soon as nothing earlier can follow: each encoder raises a watermark below which it sends
/// nothing more.
struct Interleaver {
    private var videoQueue = Deque<MediaPacket>()
    private var audioQueue = Deque<MediaPacket>()
    private var videoWatermark = Int64.min
    private var audioWatermark = Int64.min
    private var lastOut = Int64.min

    mutating func append(_ packet: MediaPacket) {
        if packet.isVideo { videoQueue.append(packet) } else { audioQueue.append(packet) }
    }

    /// Declares that no video packet earlier than `timestamp` (milliseconds) will follow.
    mutating func setVideoWatermark(_ timestamp: Int64) {
        videoWatermark = max(videoWatermark, timestamp)
    }

    /// Declares that no audio packet earlier than `timestamp` (milliseconds) will follow.
    mutating func setAudioWatermark(_ timestamp: Int64) {
        audioWatermark = max(audioWatermark, timestamp)
    }

    /// Removes and returns the next packet in order; nil while an earlier one may still come.
    ///
    /// Video precedes audio of the same time.
    mutating func next() -> MediaPacket? {
        let video = videoQueue.first?.timestamp
        let audio = audioQueue.first?.timestamp
        if let video, video <= (audio ?? audioWatermark) {
            return emit(videoQueue.popFirst())
        }
        if let audio, audio <= (video ?? videoWatermark) {
            return emit(audioQueue.popFirst())
        }
        return nil
    }

    private mutating func emit(_ packet: MediaPacket?) -> MediaPacket? {
        guard var packet else { return nil }
        packet.timestamp = max(packet.timestamp, lastOut)
        lastOut = packet.timestamp
        return packet
    }
}
