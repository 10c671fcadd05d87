/// What is stored of a stream key: enough to know it again, nothing to publish with.
public struct StreamKeyRecord: Sendable, Hashable, Codable {
    /// The part that names the key.
    public var identifier: String
    /// SHA-256 of pepper and key.
    public var digest: [UInt8]
    /// Whose key it is.
    public var participantSID: String
}
