/// How recordings are cut into files, and how long files are kept.
public struct RecordingConfiguration: Sendable, Equatable {
    /// The folder that holds a folder for each room.
    public var folder: String
    /// Bytes after which a file ends at the next key picture.
    public var fileBytes: Int
    /// Seconds after which a file ends at the next key picture.
    public var fileSeconds: Double
    /// Bytes of finished files that are kept, over all rooms, the oldest gone first; nil keeps all.
    public var keptBytes: Int?
    /// Seconds after their end for which finished files are kept; nil keeps them for good.
    public var keptSeconds: Double?
    /// Bytes that are left free on the disk, because the database of the rooms lives there too.
    public var reservedBytes: Int
    /// Bytes of the program that may wait for the disk.
    public var queuedBytes: Int

    /// Makes a configuration; a time or size out of reason is brought to the nearest one in reason.
    public init(
        folder: String,
        fileBytes: Int = 2 << 30,
        fileSeconds: Double = 3600,
        keptBytes: Int? = nil,
        keptSeconds: Double? = nil,
        reservedBytes: Int = 256 << 20,
        queuedBytes: Int = 32 << 20
    ) {
        self.folder = folder
        self.fileBytes = max(fileBytes, 1 << 20)
        self.fileSeconds = max(fileSeconds, 1)
        self.keptBytes = keptBytes
        self.keptSeconds = keptSeconds
        self.reservedBytes = max(reservedBytes, 0)
        self.queuedBytes = max(queuedBytes, 1 << 20)
    }
}
