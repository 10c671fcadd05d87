/// A picture of the program as a file.
public struct Snapshot: Sendable, Hashable {
    /// What kind of file.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        case jpeg = "jpg"
        case png
    }

    /// What kind of file.
    public var format: Format
    /// Pixels across, at most the program's own; nil for those.
    public var width: Int?

    /// Describes a picture.
    public init(_ format: Format, width: Int? = nil) {
        self.format = format
        self.width = width
    }
}
