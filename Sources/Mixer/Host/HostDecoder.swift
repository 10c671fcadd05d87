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
    /// What may be left out of the pictures, whatever becomes of them.
    var economy = VideoDecoder.Economy.none {
        didSet { economise() }
    }
    /// How the host is seen; for one that is seen again see `isBehind`.
    var view = HostView.whole {
        didSet {
            guard view != oldValue else { return }
            video?.reduction = view.reduction
            economise()
        }
    }
    /// Up to which of the host's returns from no tile all that had waited is decoded.
    var returns = 0
    /// What is left out.
    private var applied = VideoDecoder.Economy.none
    /// Of the last picture.
    private var size: (width: Int, height: Int)?
    /// Pictures of the last whole group, or of this one if that is longer already; nil before there was one.
    private var group: Int?
    /// Pictures since the last key picture.
    private var sinceKey: Int?
    /// Of the decoder's seconds for making pictures smaller, those that are counted.
    private var accounted = 0.0
    private var hidden = HiddenPictures()
    private var audio: AudioDecoder?
    private var audioConfiguration: MediaPacket?

    init() {}

    /// Decodes one packet into `media`; timestamps are unified host time in milliseconds.
    mutating func decode(_ packet: MediaPacket, into media: borrowing Mutex<DecodedMedia>) {
        let before = MonotonicSleep.threadSeconds()
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
        }
        account(for: packet, failed, since: before, in: media)
    }

    /// The host is seen again, and pictures wait that it was not seen with.
    var isBehind: Bool { view != .hidden && !hidden.isEmpty }

    /// Decodes one of the pictures that wait; between two of them there is time for sound.
    mutating func catchUp(into media: borrowing Mutex<DecodedMedia>) {
        guard let packet = hidden.popFirst() else { return }
        let before = MonotonicSleep.threadSeconds()
        var failed = false
        do {
            try decodeShown(packet, media)
        } catch {
            failed = true
        }
        account(for: packet, failed, since: before, in: media)
    }

    private mutating func account(
        for packet: MediaPacket,
        _ failed: Bool,
        since before: Double,
        in media: borrowing Mutex<DecodedMedia>
    ) {
        let isVideo = packet.isVideo
        if failed, isVideo {
            isWaitingForKey = true
            hidden.removeAll()
        }
        let spent = MonotonicSleep.threadSeconds() - before
        let reducing = takeReducingSeconds()
        media.withLock { media in
            if failed { media.decodeErrors += 1 }
            media.reducingSeconds += reducing
            if isVideo { media.decodeSeconds += max(spent - reducing, 0) } else { media.soundSeconds += spent }
        }
    }

    /// What making pictures smaller has taken since the last call.
    private mutating func takeReducingSeconds() -> Double {
        let seconds = video?.reducingSeconds ?? 0
        defer { accounted = seconds }
        // Another decoder counts from the beginning.
        return seconds < accounted ? seconds : seconds - accounted
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
        hidden.removeAll()
        video = try VideoDecoder(configuration: packet)
        video?.economy = applied
        video?.reduction = view.reduction
    }

    private mutating func economise() {
        let wanted = economy == .none ? view.economy(of: size, group: group) : economy
        guard wanted != applied else { return }
        video?.economy = wanted
        // Of what the next pictures refer to, only key pictures are there.
        if applied == .onlyKeys { isWaitingForKey = true }
        applied = wanted
    }

    private mutating func decodePicture(
        _ packet: MediaPacket,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        if isWaitingForKey {
            guard packet.isKeyPicture else { return }
            isWaitingForKey = false
        }
        if view == .hidden { return try hide(packet, media) }
        guard hidden.isEmpty else {
            // It waits behind those that led up to it.
            isWaitingForKey = !hidden.append(packet)
            return
        }
        try decodeShown(packet, media)
    }

    private mutating func decodeShown(
        _ packet: MediaPacket,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        var size = size
        measureGroup(packet)
        try video?.decode(packet) { picture in
            size = (picture.width, picture.height)
            media.withLock { $0.append(picture) }
        }
        self.size = size
        economise()
    }

    private mutating func measureGroup(_ packet: MediaPacket) {
        if packet.isKeyPicture {
            group = sinceKey ?? group
            sinceKey = 1
        } else if let count = sinceKey {
            sinceKey = count + 1
            group = group.map { max($0, count + 1) }
        }
    }

    /// Decodes key pictures alone, and keeps the others for the moment in which the host is seen again.
    private mutating func hide(_ packet: MediaPacket, _ media: borrowing Mutex<DecodedMedia>) throws(CodecError) {
        isWaitingForKey = !hidden.append(packet)
        guard !isWaitingForKey else { return }
        guard packet.isKeyPicture else { return media.withLock { $0.hiddenPictures += 1 } }
        media.withLock { $0.letGoHidden() }
        try decodeShown(packet, media)
        // Out at once, without waiting for those that may come before it; it is decoded again with what follows it.
        video?.flush { picture in media.withLock { $0.append(picture) } }
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
                    $0.sound.append(
                        leftStart,
                        rightStart,
                        count: left.count,
                        timestamp: block.timestamp,
                        packet: packet.timestamp
                    )
                }
            }
        }
    }
}
