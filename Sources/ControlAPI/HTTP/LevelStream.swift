import Foundation
import GatewayModel
import Hummingbird
import Media
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
        /// Streams of those that are limited, by whose they are.
        var owners: [String: Int] = [:]
        var frames: [String: EventStream.Frame] = [:]
        var lastNumber: UInt64 = 0
    }

    /// Streams that are open at once.
    private static let limit = 200
    /// Of those, the most of bearers who are limited.
    private static let sharedLimit = 180
    /// Streams of one bearer who is limited.
    private static let limitPerOwner = 4
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
    /// - Parameters:
    ///   - owner: The bearer whose stream it is; nil for one who has no limit of its own.
    ///   - client: Its client's place, held until it ends.
    ///   - isRefused: Whether the reader may read no more.
    ///   - isOver: Whether the room is gone.
    /// - Throws: 53006 while too many are open, 429 while its owner has too many.
    func response(
        to request: Request,
        room sid: String,
        owner: String? = nil,
        client: ClientPlace? = nil,
        isRefused: @escaping @Sendable () -> Bool,
        isOver: @escaping @Sendable () -> Bool
    ) throws(StageError) -> Response {
        let refusal = state.withLock { state -> StageError? in
            guard state.readers.values.reduce(0, +) < Self.limit else { return .serverBusy(retryAfter: 5) }
            if let owner {
                guard state.owners.values.reduce(0, +) < Self.sharedLimit else { return .serverBusy(retryAfter: 5) }
                guard state.owners[owner, default: 0] < Self.limitPerOwner else {
                    return .tooManyRequests(retryAfter: 5)
                }
                state.owners[owner, default: 0] += 1
            }
            state.readers[sid, default: 0] += 1
            return nil
        }
        if let refusal { throw refusal }
        let place = ReaderPlace { [weak self] in
            client?.leave()
            self?.leave(sid, owner: owner)
        }
        return EventStream.response(
            to: request,
            place: place,
            every: Self.pause,
            isRefused: isRefused,
            newest: { [self] in newest(of: sid) },
            isOver: isOver
        )
    }

    private func newest(of sid: String) -> EventStream.Frame? {
        state.withLock { $0.frames[sid] }
    }

    private func leave(_ sid: String, owner: String?) {
        state.withLock { state in
            if let owner {
                let rest = (state.owners[owner] ?? 1) - 1
                state.owners[owner] = rest > 0 ? rest : nil
            }
            let rest = (state.readers[sid] ?? 1) - 1
            state.readers[sid] = rest > 0 ? rest : nil
            if rest <= 0 { state.frames[sid] = nil }
        }
    }
}
