import HLS
import Media
import NIOCore

/// Splits a program into files of self-contained fragments.
///
/// Accepts packets and returns file actions, without I/O. A fragment is a GOP with its audio. A file begins with a
/// keyframe at time zero and follows the program's clock, across changes of mixers and gaps. A new file begins with the
/// keyframe at which a limit is reached or the decoder configuration changes.
struct RecordingSplitter {
    enum Action: Equatable {
        /// Opens a file with its first bytes; `age` is the time in seconds from its first frame to the newest packet.
        case open(Initialization, age: Double)
        /// Writes a fragment; `duration` is the file's duration up to its end in seconds.
        case write(ByteBuffer, duration: Double)
        /// Closes the file.
        case close
    }

    private let limits: (bytes: Int, milliseconds: Int64)
    private let segments: HLSConfiguration

    private var metadata: MediaPacket?
    private var video: MediaPacket?
    private var audio: MediaPacket?
    private var file: File?
    private var newest = Int64.min
    /// Whether the decoder configurations of the file have changed.
    private var isOutdated = false
    /// The number of packets that belong to no file.
    private(set) var dropped = 0

    private struct File {
        var segmenter: Segmenter
        /// The program time at which the file begins.
        let base: Int64
        /// The media bytes appended, written or not.
        var bytes = 0
        var isOpen = false
    }

    /// - Parameters:
    ///   - gopSeconds: The keyframe interval of the program in seconds.
    ///   - fileBytes: The bytes after which a file ends.
    ///   - fileSeconds: The seconds after which a file ends.
    init(gopSeconds: Double, fileBytes: Int, fileSeconds: Double) {
        limits = (fileBytes, Int64(fileSeconds * 1000))
        // Slightly longer than a GOP, so that rounding to milliseconds does not split a segment into two parts.
        let length = gopSeconds * 1.1
        segments = HLSConfiguration(segmentDuration: length, partDuration: length, maximumBytes: 1 << 30)
    }

    /// Appends the next packet of the program.
    mutating func append(_ packet: MediaPacket) -> [Action] {
        switch packet.content {
        case .metadata, .videoEnd:
            return []
        case .videoConfiguration:
            if let video, video.payload != packet.payload { isOutdated = true }
            // Video joins an audio-only program.
            if video == nil, file != nil { isOutdated = true }
            video = packet
            return []
        case .audioConfiguration:
            if let audio, audio.payload != packet.payload { isOutdated = true }
            // Audio joins a video-only program.
            if audio == nil, file != nil { isOutdated = true }
            audio = packet
            return []
        case .video, .audio:
            return media(packet)
        }
    }

    /// Marks a gap in the program.
    mutating func gap() {
        file?.segmenter.discontinuity()
    }

    /// Ends the program.
    mutating func finish() -> [Action] {
        guard var ended = file else { return [] }
        file = nil
        var actions = fileActions(for: ended.segmenter.finish(), &ended)
        if ended.isOpen { actions.append(.close) }
        return actions
    }

    private mutating func media(_ packet: MediaPacket) -> [Action] {
        newest = max(newest, packet.timestamp)
        var actions: [Action] = []
        if isBoundary(packet) {
            actions = finish()
            isOutdated = false
            file = begin(at: packet.timestamp)
        }
        guard var current = file, !isOutdated else {
            dropped += 1
            return actions
        }
        current.bytes += packet.body.readableBytes
        actions += fileActions(for: current.segmenter.append(packet.shifted(by: -current.base)), &current)
        file = current
        return actions
    }

    /// Returns whether a file begins with this packet.
    private func isBoundary(_ packet: MediaPacket) -> Bool {
        guard packet.isKeyframe || (video == nil && packet.isAudio && audio != nil) else { return false }
        guard let file, !isOutdated else { return true }
        return file.bytes >= limits.bytes || packet.timestamp - file.base >= limits.milliseconds
    }

    private func begin(at time: Int64) -> File {
        var segmenter = Segmenter(segments)
        for configuration in [video, audio].compactMap(\.self) {
            _ = segmenter.append(configuration)
        }
        return File(segmenter: segmenter, base: time)
    }

    private func fileActions(for outputs: [SegmenterOutput], _ file: inout File) -> [Action] {
        outputs.compactMap { output in
            switch output {
            case .initialization(let initialization):
                file.isOpen = true
                return .open(initialization, age: Double(newest - file.base) / 1000)
            case .part(let part):
                return .write(part.data, duration: part.start + part.duration)
            case .segment:
                return nil
            }
        }
    }
}

extension MediaPacket {
    fileprivate func shifted(by milliseconds: Int64) -> MediaPacket {
        var packet = self
        packet.timestamp += milliseconds
        return packet
    }
}
