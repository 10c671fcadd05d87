import GatewayModel
import NIOCore
import Stage
import Synchronization

/// Events as bytes of a `text/event-stream`, each written once for all its readers.
///
/// Encoding is most of what an event costs, and every reader of a room gets the same text. Only what depends on the
/// reader, or on the moment of reading, is written anew each time.
final class EventFrames: Sendable {
    private struct Key: Hashable {
        let roomSID: String
        let revision: UInt64
        let name: StageEvent.Name
        /// Tells heartbeats apart, which have no revision of their own.
        let at: Double
    }

    private struct Kept {
        var frames: [Key: ByteBuffer] = [:]
        /// The order in which they came, as a ring.
        var keys: [Key] = []
        var oldest = 0
    }

    /// Frames that are kept; at some two kilobytes each.
    private let capacity: Int
    private let kept = Mutex(Kept())

    init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    /// The bytes of an event.
    func frame(_ event: StageEvent, context: EventContext) throws -> ByteBuffer {
        guard event.isSameForAll else { return try Self.write(event, context) }
        let key = Key(roomSID: event.roomSID, revision: event.revision, name: event.name, at: event.at)
        if let frame = kept.withLock({ $0.frames[key] }) { return frame }
        // Two readers may write the same frame at once; that costs less than one of them waiting for the other.
        let frame = try Self.write(event, context)
        kept.withLock { kept in
            guard kept.frames.updateValue(frame, forKey: key) == nil else { return }
            if kept.keys.count < capacity {
                kept.keys.append(key)
            } else {
                kept.frames[kept.keys[kept.oldest]] = nil
                kept.keys[kept.oldest] = key
                kept.oldest = (kept.oldest + 1) % capacity
            }
        }
        return frame
    }

    private static func write(_ event: StageEvent, _ context: EventContext) throws -> ByteBuffer {
        let data = try WireJSON.encode(EventResource(event, context: context))
        var frame = ByteBuffer()
        frame.reserveCapacity(data.count + 96)
        // A comment, for proxies that count only what is no event as a sign of life.
        if event.payload == .heartbeat { frame.writeString(": ping\n") }
        frame.writeString("id: \(event.revision)\nevent: \(event.name.rawValue)\ndata: ")
        frame.writeBytes(data)
        frame.writeString("\n\n")
        return frame
    }
}

extension StageEvent {
    /// Whether the event says the same to every reader at every time.
    fileprivate var isSameForAll: Bool {
        switch payload {
        case .snapshot, .roomCreated, .roomUpdated, .roomEnded, .hlsStateChanged, .viewershipUpdated,
            .sessionDisconnected:
            false
        default:
            true
        }
    }
}
