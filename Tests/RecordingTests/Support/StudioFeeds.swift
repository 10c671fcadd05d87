import Media
import Stage
import Synchronization

/// The program of a studio: whoever listens to it.
final class StudioFeeds: ProgramFeeding {
    private let listeners = Mutex<[any PacketSink]>([])

    var sinks: [any PacketSink] { listeners.withLock { $0 } }

    func attach(_ sink: any PacketSink, room: String) {
        listeners.withLock { $0.append(sink) }
    }

    func detach(_ sink: any PacketSink, room: String) {
        listeners.withLock { $0.removeAll { $0 === sink } }
    }
}
