import Synchronization

extension RoomDirectory {
    /// Ends every reader's stream, as the last thing before the process goes; the readers come back to its successor.
    public func endReaders() {
        // Finishing calls back into the directory, so it happens outside of the lock.
        let continuations = state.withLock { state in
            state.isClosing = true
            return state.readers.values.flatMap { $0.values.map(\.continuation) }
                + state.users.values.map(\.continuation)
        }
        for continuation in continuations { continuation.finish() }
    }
}
