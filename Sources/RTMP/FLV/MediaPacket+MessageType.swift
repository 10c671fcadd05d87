import Media

extension MediaPacket {
    /// The RTMP message type, which is also the FLV tag type (8 audio, 9 video, 18 script data).
    var messageType: UInt8 {
        if isVideo { return MessageType.video }
        return isAudio ? MessageType.audio : MessageType.data
    }
}
