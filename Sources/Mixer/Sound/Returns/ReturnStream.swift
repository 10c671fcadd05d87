import Codecs
import Media

/// One host's return feed: the program's coded pictures as they are, and sound of its own, in one order.
///
/// Begins with a key picture and both decoder configurations. Owned by the thread that encodes the returns.
final class ReturnStream {
    /// The sound encoder keeps at most an incomplete frame and one that it looks ahead with.
    private static let mostKept: Int64 = 2 * 1024

    private var audio: AudioEncoder
    private var interleaver = Interleaver()
    /// The time of the first picture; nil before it came.
    private var start: Int64?
    private var configuration: MediaPacket?
    private var isConfigured = false
    private(set) var errors: Int64 = 0
    private let sink: (MediaPacket) -> Void

    /// - Parameters:
    ///   - bitrate: Of the sound, bits per second.
    ///   - configuration: The program's video configuration, if it is known already.
    init(bitrate: Int, configuration: MediaPacket?, sink: @escaping (MediaPacket) -> Void) throws(CodecError) {
        audio = try AudioEncoder(AudioEncoderConfiguration(bitrate: bitrate))
        self.configuration = configuration
        self.sink = sink
    }

    /// Takes the program's next packet that is not sound.
    func takeProgram(_ packet: MediaPacket) {
        switch packet.content {
        case .videoConfiguration:
            configuration = packet
            isConfigured = false
        case .picture:
            guard start != nil || packet.isKeyPicture else { return }
            begin(at: packet.timestamp)
            interleaver.append(packet)
            interleaver.promisePictures(from: packet.timestamp)
            drain()
        case .metadata, .videoEnd, .audioConfiguration, .sound:
            break
        }
    }

    /// Pictures were lost: the next one shown is a key picture.
    func skipToKey() {
        start = nil
    }

    private func begin(at timestamp: Int64) {
        guard start == nil else { return }
        start = timestamp
        guard !isConfigured, var configuration else { return }
        isConfigured = true
        configuration.timestamp = timestamp
        sink(configuration)
        sink(.aacConfiguration(audio.configuration, timestamp: timestamp))
    }

    /// Takes the next sound; the first sample has position `firstSample`.
    func takeSound(_ block: AudioBlock, firstSample: Int64) {
        let start = start
        var interleaver = interleaver
        do {
            try block.withChannels { (left, right) throws(CodecError) in
                guard let left = left.baseAddress, let right = right.baseAddress else { return }
                try audio.encode(left: left, right: right, count: block.frameCount, firstSample: firstSample) {
                    // Sound from before the first picture is nothing to begin with.
                    if let start, $0.timestamp >= start { interleaver.append($0) }
                }
            }
        } catch {
            errors += 1
        }
        self.interleaver = interleaver
        let end = firstSample + Int64(block.frameCount) - Int64(audio.priming) - Self.mostKept
        self.interleaver.promiseSounds(from: ProgramTime.milliseconds(ofSample: end))
        drain()
    }

    private func drain() {
        while let packet = interleaver.next() { sink(packet) }
    }
}
