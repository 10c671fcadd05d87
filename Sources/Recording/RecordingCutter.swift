import HLS
import Media
import NIOCore

/// Cuts a program into files, and each file into fragments that are whole by themselves.
///
/// Packets in, what to do with files out; nothing is written here. A fragment is a group of pictures with its sound. A
/// file begins with a key picture at time zero and keeps the program's clock from there on, over a change of mixers and
/// over gaps; a new one begins with the key picture at which a limit is reached or the decoder configuration is another.
struct RecordingCutter {
    enum Action: Equatable {
        /// A file begins: its first bytes, what it holds, and how far back on the program's clock its first picture lies.
        case open(Initialization, age: Double)
        /// The next fragment, and the seconds of the file up to its end.
        case write(ByteBuffer, duration: Double)
        /// The file is at its end.
        case close
    }

    private let limits: (bytes: Int, milliseconds: Int64)
    private let segments: HLSConfiguration

    private var metadata: MediaPacket?
    private var video: MediaPacket?
    private var audio: MediaPacket?
    private var file: File?
    private var newest = Int64.min
    /// The file's decoder configurations do not hold any more.
    private var isOutdated = false
    /// Packets that no file could take.
    private(set) var dropped = 0

    private struct File {
        var segmenter: Segmenter
        /// The program's time at which the file begins.
        let base: Int64
        /// Bytes of media taken, written or not.
        var bytes = 0
        var isOpen = false
    }

    /// - Parameters:
    ///   - groupSeconds: Seconds between the program's key pictures.
    ///   - fileBytes: Bytes after which a file ends.
    ///   - fileSeconds: Seconds after which a file ends.
    init(groupSeconds: Double, fileBytes: Int, fileSeconds: Double) {
        limits = (fileBytes, Int64(fileSeconds * 1000))
        // A little longer than a group, which so is a segment of one part, whatever whole milliseconds make of it.
        let length = groupSeconds * 1.1
        segments = HLSConfiguration(segmentDuration: length, partDuration: length, maximumBytes: 1 << 30)
    }

    /// Takes the next packet of the program.
    mutating func append(_ packet: MediaPacket) -> [Action] {
        switch packet.content {
        case .metadata, .videoEnd:
            return []
        case .videoConfiguration:
            if let video, video.payload != packet.payload { isOutdated = true }
            // A program of sound alone that becomes one with pictures.
            if video == nil, file != nil { isOutdated = true }
            video = packet
            return []
        case .audioConfiguration:
            if let audio, audio.payload != packet.payload { isOutdated = true }
            // A program of pictures alone that gets sound.
            if audio == nil, file != nil { isOutdated = true }
            audio = packet
            return []
        case .picture, .sound:
            return media(packet)
        }
    }

    /// What comes next does not follow on what came before.
    mutating func gap() {
        file?.segmenter.discontinuity()
    }

    /// Ends the program.
    mutating func finish() -> [Action] {
        guard var ended = file else { return [] }
        file = nil
        var actions = take(ended.segmenter.finish(), &ended)
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
        actions += take(current.segmenter.append(packet.moved(by: -current.base)), &current)
        file = current
        return actions
    }

    /// Whether a file begins with this packet.
    private func isBoundary(_ packet: MediaPacket) -> Bool {
        guard packet.isKeyPicture || (video == nil && packet.isAudio && audio != nil) else { return false }
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

    private func take(_ outputs: [SegmenterOutput], _ file: inout File) -> [Action] {
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
    fileprivate func moved(by milliseconds: Int64) -> MediaPacket {
        var packet = self
        packet.timestamp += milliseconds
        return packet
    }
}
