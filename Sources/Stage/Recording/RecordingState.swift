/// How far the recording of a room's program is.
public enum RecordingState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Asked for; the file begins with the program's next key picture.
    case starting = "RECORDING_STARTING"
    /// A file is being written.
    case started = "RECORDING_STARTED"
    /// What is queued is written down.
    case stopping = "RECORDING_STOPPING"
    /// Nothing is recorded.
    case stopped = "RECORDING_STOPPED"
}
