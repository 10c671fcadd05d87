/// Looks through chunks (RTMP 1.0, 5.3), after the server's part of the handshake.
struct RTMPSkim: StreamSkim {
    private struct Message {
        var length = 0
        var type: UInt8 = 0
        var isExtended = false
        /// Bytes of it that have come.
        var taken = 0
        var mark = PictureMark()
        /// Of a command, its beginning.
        var text: [UInt8] = []
    }

    private static let headerLengths = [11, 7, 3, 0]
    private static let status = Array("NetStream.Play.".utf8)
    private static let textLength = 512

    private var handshake = PlayDialogue.answerLength
    private var chunkSize = 128
    private var messages: [UInt8: Message] = [:]
    private var header: [UInt8] = []
    /// The chunk stream whose chunk is being read, and what is missing of that chunk.
    private var current: (stream: UInt8, remaining: Int)?

    mutating func take(_ bytes: UnsafeRawBufferPointer) -> SkimResult? {
        var position = min(handshake, bytes.count)
        handshake -= position
        while position < bytes.count {
            if let (stream, remaining) = current {
                let count = min(remaining, bytes.count - position)
                let chunk = UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
                position += count
                current = remaining > count ? (stream, remaining - count) : nil
                if let result = take(chunk, of: stream) { return result }
            } else {
                header.append(bytes[position])
                position += 1
                readHeader()
            }
        }
        return nil
    }

    private mutating func take(_ chunk: UnsafeRawBufferPointer, of stream: UInt8) -> SkimResult? {
        var message = messages[stream] ?? Message()
        if message.taken < 2 {
            for (index, byte) in chunk.prefix(2).enumerated() { message.mark.note(byte, at: message.taken + index) }
        }
        if message.type != 8, message.type != 9 { message.text += chunk.prefix(Self.textLength - message.text.count) }
        message.taken += chunk.count
        guard message.taken >= message.length else {
            messages[stream] = message
            return nil
        }
        defer {
            message.taken = 0
            message.text = []
            messages[stream] = message
        }
        switch message.type {
        case 1:
            chunkSize = max(message.text.prefix(4).reduce(0) { $0 << 8 | Int($1) }, 1)
            return nil
        case 9: return message.mark.isKeyPicture ? .keyPicture : nil
        case 20: return isRefusal(message.text) ? .refused : nil
        default: return nil
        }
    }

    private func isRefusal(_ command: [UInt8]) -> Bool {
        guard let range = command.firstRange(of: Self.status) else { return false }
        let code = command[range.upperBound...]
        return code.starts(with: Array("Failed".utf8)) || code.starts(with: Array("StreamNotFound".utf8))
    }

    /// Begins a chunk when its header is whole; both servers keep to chunk streams of one byte.
    private mutating func readHeader() {
        let format = Int(header[0] >> 6)
        let stream = header[0] & 0x3F
        let length = Self.headerLengths[format]
        guard header.count > length else { return }
        var message = messages[stream] ?? Message()
        if length >= 3 { message.isExtended = header[1...3].allSatisfy { $0 == 0xFF } }
        guard header.count > length + (message.isExtended ? 4 : 0) else { return }
        if length >= 7 {
            message.length = header[4...6].reduce(0) { $0 << 8 | Int($1) }
            message.type = header[7]
        }
        messages[stream] = message
        header.removeAll(keepingCapacity: true)
        let remaining = min(chunkSize, message.length - message.taken)
        if remaining > 0 { current = (stream, remaining) }
    }
}
