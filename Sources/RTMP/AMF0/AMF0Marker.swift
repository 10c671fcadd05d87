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
