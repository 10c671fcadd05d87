import NIOCore

extension ByteBuffer {
    /// Appends AMF0 values in order.
    mutating func writeAMF0(_ values: [AMF0Value]) {
        for value in values {
            writeAMF0(value)
        }
    }

    /// Appends one AMF0 value; strings longer than 65,535 bytes are written as long strings.
    mutating func writeAMF0(_ value: AMF0Value) {
        switch value {
        case .number(let number):
            writeMarker(.number)
            writeInteger(number.bitPattern)
        case .boolean(let flag):
            writeMarker(.boolean)
            writeInteger(UInt8(flag ? 1 : 0))
        case .string(let text) where text.utf8.count > Int(UInt16.max):
            writeMarker(.longString)
            writeInteger(UInt32(clamping: text.utf8.count))
            writeString(text)
        case .string(let text):
            writeMarker(.string)
            writeShortString(text)
        case .object(let object):
            writeMarker(.object)
            writeProperties(object)
        case .array(let object):
            writeMarker(.ecmaArray)
            writeInteger(UInt32(clamping: object.entries.count))
            writeProperties(object)
        case .list(let values):
            writeMarker(.strictArray)
            writeInteger(UInt32(clamping: values.count))
            writeAMF0(values)
        case .date(let time):
            writeMarker(.date)
            writeInteger(time.bitPattern)
            writeInteger(UInt16(0))
        case .null:
            writeMarker(.null)
        case .undefined:
            writeMarker(.undefined)
        }
    }

    private mutating func writeMarker(_ marker: AMF0Marker) {
        writeInteger(marker.rawValue)
    }

    private mutating func writeProperties(_ object: AMF0Object) {
        for entry in object.entries {
            writeShortString(entry.key)
            writeAMF0(entry.value)
        }
        writeInteger(UInt16(0))
        writeMarker(.objectEnd)
    }

    private mutating func writeShortString(_ text: String) {
        let bytes = text.utf8.prefix(Int(UInt16.max))
        writeInteger(UInt16(bytes.count))
        writeBytes(bytes)
    }
}

/// The type byte in front of an AMF0 value.
enum AMF0Marker: UInt8 {
    case number = 0
    case boolean = 1
    case string = 2
    case object = 3
    case null = 5
    case undefined = 6
    case reference = 7
    case ecmaArray = 8
    case objectEnd = 9
    case strictArray = 10
    case date = 11
    case longString = 12
    case unsupported = 13
    case xmlDocument = 15
    case typedObject = 16
}
