public import Media
public import NIOCore

extension MediaPacket {
    /// Reads the body of an RTMP data message or FLV script tag.
    ///
    /// `@setDataFrame` in front of it is removed. Anything but `onMetaData` (text, cue points, sample access) yields
    /// nil: it says nothing about how to decode.
    ///
    /// - Parameters:
    ///   - body: The AMF0 values.
    ///   - timestamp: In milliseconds.
    public init?(dataBody body: ByteBuffer, timestamp: Int64) {
        var body = body
        var name = Self.readName(body)
        if let (text, end) = name, text == "@setDataFrame" {
            body.moveReaderIndex(to: end)
            name = Self.readName(body)
        }
        guard let (text, _) = name, text == "onMetaData" else { return nil }
        self.init(content: .metadata, timestamp: timestamp, body: body, headerLength: 0)
    }

    /// A short AMF0 string at the front, and the index behind it.
    private static func readName(_ body: ByteBuffer) -> (text: String, end: Int)? {
        guard body.getInteger(at: body.readerIndex) == AMF0Marker.string.rawValue,
            let length = body.getInteger(at: body.readerIndex + 1, as: UInt16.self), length <= 64,
            let text = body.getString(at: body.readerIndex + 3, length: Int(length))
        else { return nil }
        return (text, body.readerIndex + 3 + Int(length))
    }
}
