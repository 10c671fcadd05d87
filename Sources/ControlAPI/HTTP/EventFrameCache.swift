import FootlightModel
import NIOCore
import Stage
import Synchronization

/// Caches events encoded as `text/event-stream`, so that each is encoded once for all readers of a room.
///
/// Encoding is most of the cost of an event. Events that depend on the reader, or on the moment of reading, are encoded
/// each time.
final class EventFrameCache: Sendable {
    private struct Key: Hashable {
        let roomSID: String
        let revision: UInt64
        let name: StageEvent.Name
        /// Distinguishes heartbeats, which have no revision of their own.
        let at: Double
    }

    private struct Storage {
        var frames: [Key: ByteBuffer] = [:]
        /// The keys in insertion order, as a ring buffer.
        var keys: [Key] = []
        var oldest = 0
    }

    /// Maximum number of cached frames, of about 2 kB each.
    private let capacity: Int
    private let storage = Mutex(Storage())

    init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    /// Returns the encoded bytes of an event.
    func frame(_ event: StageEvent, context: EventContext) throws -> ByteBuffer {
        guard event.isSameForAllReaders else { return try Self.write(event, context) }
        let key = Key(roomSID: event.roomSID, revision: event.revision, name: event.name, at: event.at)
        if let frame = storage.withLock({ $0.frames[key] }) { return frame }
        // Two readers may encode the same frame concurrently; that costs less than holding the lock.
        let frame = try Self.write(event, context)
        storage.withLock { storage in
            guard storage.frames.updateValue(frame, forKey: key) == nil else { return }
            if storage.keys.count < capacity {
                storage.keys.append(key)
            } else {
                storage.frames[storage.keys[storage.oldest]] = nil
                storage.keys[storage.oldest] = key
                storage.oldest = (storage.oldest + 1) % capacity
            }
        }
        return frame
    }

    private static func write(_ event: StageEvent, _ context: EventContext) throws -> ByteBuffer {
        let data = try WireJSON.encode(EventResource(event, context: context))
        var frame = ByteBuffer()
        frame.reserveCapacity(data.count + 96)
        // A comment, because some proxies take only comments for a keep-alive.
        if event.payload == .heartbeat { frame.writeString(": ping\n") }
        frame.writeString("id: \(event.revision)\nevent: \(event.name.rawValue)\ndata: ")
        frame.writeBytes(data)
        frame.writeString("\n\n")
        return frame
    }
}

extension StageEvent {
    /// Whether the event is the same for every reader at any time.
    fileprivate var isSameForAllReaders: Bool {
        switch payload {
        case .snapshot, .roomCreated, .roomUpdated, .roomEnded, .hlsStateChanged:
            false
        // Their errors have an address.
        case .sessionDisconnected, .participantMediaFailed, .livestreamError, .recordingFailed, .recordingStateChanged,
            .recordingRotated:
            false
        default:
            true
        }
    }
}
