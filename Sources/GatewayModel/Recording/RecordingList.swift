/// A page of recorded files, the oldest first.
public struct RecordingList: Codable, Sendable, Hashable {
    /// The files.
    public var recordings: [RecordedFileResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a page.
    public init(recordings: [RecordedFileResource], meta: PageResource) {
        self.recordings = recordings
        self.meta = meta
    }
}
