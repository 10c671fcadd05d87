/// One reader's end of a room's events: bounded, and cut off with a last word when it falls behind.
struct EventReader: Sendable {
    let roomSID: String
    /// The participant whose stream it is; nil for one that only looks on.
    let participantSID: String?
    /// Events up to here are known to the reader already.
    let knownRevision: UInt64
    let continuation: AsyncStream<StageEvent>.Continuation

    /// Hands over one event.
    ///
    /// - Returns: Whether the reader stays.
    func offer(_ event: StageEvent) -> Bool {
        guard event.revision > knownRevision || event.payload == .heartbeat else { return true }
        if let only = event.onlyReaderSID, only != participantSID { return true }
        switch continuation.yield(event) {
        case .enqueued(let remaining) where remaining > 1:
            return endsWith(event) ? finish() : true
        case .enqueued:
            // One place is left in the buffer: the last word goes there.
            return finish(.readerTooSlow, after: event)
        case .dropped, .terminated:
            return finish()
        @unknown default:
            return finish()
        }
    }

    /// Whether nothing comes after `event`; the participant's own stream is told why.
    private func endsWith(_ event: StageEvent) -> Bool {
        switch event.payload {
        case .roomEnded:
            if participantSID != nil { yieldDisconnected(.roomCompleted, after: event) }
            return true
        case .participantLeft(let participant, let reason):
            guard participant.sid == participantSID else { return false }
            if let error = reason.error { yieldDisconnected(error, after: event) }
            return true
        default:
            return false
        }
    }

    private func finish(_ error: StageError, after event: StageEvent) -> Bool {
        yieldDisconnected(error, after: event)
        return finish()
    }

    private func finish() -> Bool {
        continuation.finish()
        return false
    }

    private func yieldDisconnected(_ error: StageError, after event: StageEvent) {
        var last = event
        last.payload = .sessionDisconnected(error)
        continuation.yield(last)
    }
}
