/// Why bytes are not FLV that is read here.
public enum FLVError: Error, Sendable, Equatable {
    /// The file does not begin with `FLV`.
    case notFLV
    /// A tag of an unknown kind, or encrypted.
    case unknownTag(UInt8)
    /// A tag announced more bytes than any media has.
    case tooLarge(Int)
}
