import Synchronization

extension RoomDirectory {
    /// Ends every reader's stream, as the last thing before the process goes; the readers come back to its successor.
    public func endReaders() {
        // Finishing calls back into the directory, so it happens outside of the lock.
        let readers = state.withLock { state in state.readers.values.flatMap(\.values) }
        for reader in readers { reader.continuation.finish() }
    }
}
