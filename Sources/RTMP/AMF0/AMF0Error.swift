/// Why bytes are not AMF0 that is read here.
enum AMF0Error: Error, Equatable {
    case truncated
    case unknownMarker(UInt8)
    case tooDeep
    case tooManyValues
    case stringTooLong
}
