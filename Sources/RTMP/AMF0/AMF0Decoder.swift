import NIOCore

/// Decodes the AMF0 values of one message within limits on depth, value count and string length.
///
/// The defaults are 32 levels, 1,024 values and 4,096 bytes per string. A strict array is rejected if it announces more
/// elements than the remaining value count.
///
/// Tolerates two common encoder faults: an associative array or object may end with the message instead of its end
/// marker, and the announced count of an associative array is ignored.
struct AMF0Decoder {
    private var bytes: ByteBuffer
    private var nodesLeft: Int
    private let maximumDepth: Int
    private let maximumString: Int

    init(_ bytes: ByteBuffer, limits: RTMPLimits) {
        self.bytes = bytes
        nodesLeft = limits.amfNodes
        maximumDepth = limits.amfDepth
        maximumString = limits.amfStringBytes
    }

    /// The bytes not read so far.
    var remaining: ByteBuffer { bytes }

    /// Returns the next value, or nil at the end of the message.
    mutating func next() throws(AMF0Error) -> AMF0Value? {
        guard bytes.readableBytes > 0 else { return nil }
        return try value(depth: 0)
    }

    /// Returns all values up to the end of the message.
    mutating func all() throws(AMF0Error) -> [AMF0Value] {
        var values: [AMF0Value] = []
        while let value = try next() {
            values.append(value)
        }
        return values
    }

    private mutating func value(depth: Int) throws(AMF0Error) -> AMF0Value {
        guard depth <= maximumDepth else { throw .tooDeep }
        guard nodesLeft > 0 else { throw .tooManyValues }
        nodesLeft -= 1
        let byte: UInt8 = try integer()
        guard let marker = AMF0Marker(rawValue: byte) else { throw .unknownMarker(byte) }
        switch marker {
        case .number:
            return .number(Double(bitPattern: try integer()))
        case .boolean:
            let flag: UInt8 = try integer()
            return .boolean(flag != 0)
        case .string:
            return .string(try shortString())
        case .longString, .xmlDocument:
            let length: UInt32 = try integer()
            return .string(try string(length: Int(length)))
        case .object:
            return .object(try properties(depth: depth))
        case .typedObject:
            _ = try shortString()
            return .object(try properties(depth: depth))
        case .ecmaArray:
            let _: UInt32 = try integer()
            return .array(try properties(depth: depth))
        case .strictArray:
            return .list(try elements(depth: depth))
        case .date:
            let time = Double(bitPattern: try integer())
            let _: UInt16 = try integer()
            return .date(time)
        case .null:
            return .null
        case .undefined, .unsupported:
            return .undefined
        case .reference:
            let _: UInt16 = try integer()
            return .undefined
        case .objectEnd:
            throw .unknownMarker(byte)
        }
    }

    private mutating func properties(depth: Int) throws(AMF0Error) -> AMF0Object {
        var object = AMF0Object()
        while bytes.readableBytes > 0 {
            if bytes.readableBytes >= 3, bytes.getInteger(at: bytes.readerIndex, as: UInt16.self) == 0,
                bytes.getInteger(at: bytes.readerIndex + 2) == AMF0Marker.objectEnd.rawValue
            {
                bytes.moveReaderIndex(forwardBy: 3)
                break
            }
            let key = try shortString()
            object.append(key, try value(depth: depth + 1))
        }
        return object
    }

    private mutating func elements(depth: Int) throws(AMF0Error) -> [AMF0Value] {
        let count: UInt32 = try integer()
        guard count <= nodesLeft else { throw .tooManyValues }
        var values: [AMF0Value] = []
        for _ in 0..<count {
            values.append(try value(depth: depth + 1))
        }
        return values
    }

    private mutating func shortString() throws(AMF0Error) -> String {
        let length: UInt16 = try integer()
        return try string(length: Int(length))
    }

    private mutating func string(length: Int) throws(AMF0Error) -> String {
        guard length <= maximumString else { throw .stringTooLong }
        guard let text = bytes.readString(length: length) else { throw .truncated }
        return text
    }

    private mutating func integer<Integer: FixedWidthInteger>() throws(AMF0Error) -> Integer {
        guard let value = bytes.readInteger(as: Integer.self) else { throw .truncated }
        return value
    }
}

/// The reasons for which AMF0 data is rejected.
enum AMF0Error: Error, Equatable {
    case truncated
    case unknownMarker(UInt8)
    case tooDeep
    case tooManyValues
    case stringTooLong
}
