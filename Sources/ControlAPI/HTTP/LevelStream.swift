import Foundation
import GatewayModel
import Hummingbird
import NIOCore
import Stage
import Synchronization

/// How loud rooms are, as server-sent events for those who ask for them: as often as the mixer says so.
///
/// An event is written once for all who read it, and not at all while nobody does. None is numbered, and none is kept: who
/// is slow gets the newest one next, for of a level that is past nobody has any use.
final class LevelStream: Sendable {
    private struct State {
        /// By the room's sid.
        var readers: [String: Int] = [:]
        var frames: [String: EventStream.Frame] = [:]
        var lastNumber: UInt64 = 0
    }

    /// Streams that are open at once.
    private static let limit = 200
    /// Half of what lies between two reports, so that none is missed.
    private static let pause = Duration.milliseconds(50)

    private let state = Mutex(State())

    /// A room's mixer has said how loud it is.
    ///
    /// - Parameter levels: Asked for only where somebody reads.
    func tell(room sid: String, _ levels: () -> LevelsResource) {
        guard state.withLock({ $0.readers[sid] != nil }) else { return }
        // A level that is no number; the next ones are others.
        guard let data = try? WireJSON.encode(levels()) else { return }
        var bytes = ByteBuffer(string: "event: levels\ndata: ")
        bytes.writeBytes(data)
        bytes.writeString("\n\n")
        state.withLock { state in
            guard state.readers[sid] != nil else { return }
            state.lastNumber += 1
            state.frames[sid] = EventStream.Frame(number: state.lastNumber, bytes: bytes)
        }
    }

    /// An answer that goes on until the client or the room is gone.
    ///
    /// - Parameter isOver: Whether the room is gone.
    /// - Throws: 53006 while too many are open.
    func response(
        to request: Request,
        room sid: String,
        isOver: @escaping @Sendable () -> Bool
    ) throws(StageError) -> Response {
        let hasPlace = state.withLock { state in
            guard state.readers.values.reduce(0, +) < Self.limit else { return false }
            state.readers[sid, default: 0] += 1
            return true
        }
        guard hasPlace else { throw .serverBusy(retryAfter: 5) }
        let place = ReaderPlace { [weak self] in self?.leave(sid) }
        return EventStream.response(
            to: request,
            place: place,
            every: Self.pause,
            newest: { [self] in newest(of: sid) },
            isOver: isOver
        )
    }

    private func newest(of sid: String) -> EventStream.Frame? {
        state.withLock { $0.frames[sid] }
    }

    private func leave(_ sid: String) {
        state.withLock { state in
            let rest = (state.readers[sid] ?? 1) - 1
            state.readers[sid] = rest > 0 ? rest : nil
            if rest <= 0 { state.frames[sid] = nil }
        }
    }
}
