import FootlightModel
import Hummingbird
import Media
import NIOCore
import Stage
import Synchronization

/// Sends the audio levels of rooms as server-sent events, at the rate of the mixer's reports.
///
/// An event is encoded once for all readers of a room, and not at all without readers. Events are neither numbered nor
/// stored: a slow reader skips to the latest one.
final class LevelStream: Sendable {
    private struct State {
        /// The number of readers by room sid.
        var readers: [String: Int] = [:]
        /// The number of limited streams by owner.
        var owners: [String: Int] = [:]
        var frames: [String: EventStream.Frame] = [:]
        var lastNumber: UInt64 = 0
    }

    /// Maximum number of open streams.
    private static let limit = 200
    /// Maximum number of open streams of limited bearers.
    private static let sharedLimit = 180
    /// Maximum number of streams of one limited bearer.
    private static let limitPerOwner = 4
    /// Half the interval between two reports, so that none is missed.
    private static let pause = Duration.milliseconds(50)

    private let state = Mutex(State())

    /// Publishes the levels that a room's mixer reported.
    ///
    /// - Parameter levels: Evaluated only if the room has readers.
    func publish(room sid: String, _ levels: () -> LevelsResource) {
        guard state.withLock({ $0.readers[sid] != nil }) else { return }
        // A level that is not a finite number cannot be encoded; the event is skipped.
        guard let bytes = try? EventStream.event("levels", levels()) else { return }
        state.withLock { state in
            guard state.readers[sid] != nil else { return }
            state.lastNumber += 1
            state.frames[sid] = EventStream.Frame(number: state.lastNumber, bytes: bytes)
        }
    }

    /// Returns a response that runs until the client disconnects or the room ends.
    ///
    /// - Parameters:
    ///   - owner: The bearer whose limit applies; nil for a bearer without a limit.
    ///   - client: The client's slot, retained until the response ends.
    ///   - isRefused: Whether the reader's token is no longer valid.
    ///   - isOver: Whether the room has ended.
    /// - Throws: 53006 if too many streams are open, 429 if the owner has too many.
    func response(
        to request: Request,
        room sid: String,
        owner: String? = nil,
        client: ClientSlot? = nil,
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
        let slot = ReaderSlot { [weak self] in
            client?.leave()
            self?.leave(sid, owner: owner)
        }
        return EventStream.response(
            to: request,
            slot: slot,
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
