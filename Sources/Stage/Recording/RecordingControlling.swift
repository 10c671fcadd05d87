/// Records the programs of rooms; the control API's view of whoever writes the files.
public protocol RecordingControlling: Sendable {
    /// Begins to record a room's program, or waits for its first key picture.
    ///
    /// - Parameter room: The room's unique name.
    /// - Throws: 3056 when it records already, 3055 while it stops, 4011 when it cannot be begun, 53106.
    func start(room: String) throws(StageError)
    /// Ends a room's recording; what is queued is still written.
    ///
    /// - Throws: 4012 when nothing is recorded, 3055 while it stops already, 53106.
    func stop(room: String) throws(StageError)
    /// How a room's recording is doing.
    func status(room: String) -> RecordingStatus
    /// The files of a room, in progress or not, the oldest first.
    ///
    /// - Parameter room: Unique name or sid.
    func files(room: String) -> [RecordedFile]
    /// One file; nil when there is none of that sid.
    func file(_ sid: String) -> RecordedFile?
    /// Where the bytes of a file are; nil when there is none of that sid.
    func path(_ sid: String) -> String?
    /// Deletes a file that is not being written.
    ///
    /// - Throws: 53206 when there is none of that sid, 3057 while it is being written, 4018 when the disk refuses.
    func delete(_ sid: String) async throws(StageError)
}
