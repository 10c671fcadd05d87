import Codecs
import Media
import Synchronization

/// One host's decoders; owned by the host's decode thread.
///
/// An error costs that host pictures until its next key picture
/// or one frame of sound, and nobody else anything.
struct HostDecoder: ~Copyable {
    private var video: VideoDecoder?
    private var videoConfiguration: MediaPacket?
    private var isWaitingForKey = true
    /// What may be left out of the pictures.
    var economy = VideoDecoder.Economy.none {
        didSet {
            guard economy != oldValue else { return }
            video?.economy = economy
            // Of what the next pictures refer to, only key pictures are there.
            if oldValue == .onlyKeys { isWaitingForKey = true }
        }
    }
    private var audio: AudioDecoder?
    private var audioConfiguration: MediaPacket?

    init() {}

    /// Decodes one packet into `media`; timestamps are unified host time in milliseconds.
    mutating func decode(_ packet: MediaPacket, into media: borrowing Mutex<DecodedMedia>) {
        let before = MonotonicSleep.threadSeconds()
        let isVideo = packet.isVideo
        var failed = false
        do {
            switch packet.content {
            case .videoConfiguration: try configureVideo(packet, media)
            case .picture: try decodePicture(packet, media)
            case .audioConfiguration: try configureAudio(packet)
            case .sound(let codec): try decodeSound(packet, codec, media)
            case .metadata, .videoEnd: break
            }
        } catch {
            failed = true
            if isVideo { isWaitingForKey = true }
        }
        let spent = MonotonicSleep.threadSeconds() - before
        media.withLock { media in
            if failed { media.decodeErrors += 1 }
            if isVideo { media.decodeSeconds += spent } else { media.soundSeconds += spent }
        }
    }

    private mutating func configureVideo(
        _ packet: MediaPacket,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        // Encoders repeat their configuration at will; only another one is a reason for another decoder.
        if let videoConfiguration, video != nil, videoConfiguration.payload == packet.payload { return }
        video?.flush { picture in media.withLock { $0.append(picture) } }
        video = nil
        videoConfiguration = packet
        isWaitingForKey = true
        video = try VideoDecoder(configuration: packet)
        video?.economy = economy
    }

    private mutating func decodePicture(
        _ packet: MediaPacket,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        if isWaitingForKey {
            guard packet.isKeyPicture else { return }
            isWaitingForKey = false
        }
        try video?.decode(packet) { picture in media.withLock { $0.append(picture) } }
    }

    private mutating func configureAudio(_ packet: MediaPacket) throws(CodecError) {
        if let audioConfiguration, audio != nil, audioConfiguration.payload == packet.payload { return }
        audio = nil
        audioConfiguration = packet
        audio = try AudioDecoder(codec: .aac, configuration: packet)
    }

    private mutating func decodeSound(
        _ packet: MediaPacket,
        _ codec: AudioCodec,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        if codec == .mp3, audio == nil || audioConfiguration != nil {
            audioConfiguration = nil
            audio = try AudioDecoder(codec: .mp3, configuration: nil)
        }
        try audio?.decode(packet) { block in
            block.withChannels { (left, right) in
                guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
                media.withLock {
                    $0.sound.append(leftStart, rightStart, count: left.count, timestamp: block.timestamp)
                }
            }
        }
    }
}
