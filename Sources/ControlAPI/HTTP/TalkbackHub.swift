import Foundation
import FootlightModel
import Hummingbird
import Media
import NIOCore
import ServiceLifecycle
import Stage
import Synchronization

/// Brings talkback audio from directors to the rooms' mixers, as server-sent events.
///
/// Blocks are not stored: a mixer that does not read gets the newest ones, and a room without a mixer refuses them.
final class TalkbackHub: Sendable {
    private struct Mixer {
        let id: UInt64
        let events: AsyncStream<ByteBuffer>.Continuation
        var writtenAt: MonotonicTime
    }

    private struct State {
        var talkbacks: [String: RoomTalkback] = [:]
        /// The streams of each room's mixers, the oldest first.
        var mixers: [String: [Mixer]] = [:]
        var lastID: UInt64 = 0
    }

    /// Maximum number of streams of one room: that of a mixer, and of the one that replaces it.
    private static let streamsPerRoom = 2
    /// Maximum number of blocks that wait for one mixer.
    private static let maximumQueued = 10
    /// Seconds after which a stream without blocks carries a ping.
    private static let ping = 5.0

    private let clock: any MonotonicClock
    private let state = Mutex(State())

    init(clock: any MonotonicClock = SystemClock()) {
        self.clock = clock
    }

    /// Returns the talk of a room, by sid; nil without a speaker.
    func talk(room: String) -> RoomTalkback.Talk? {
        state.withLock { $0.talkbacks[room] }?.talk(at: clock.now)
    }

    /// Passes a block to the room's mixer.
    ///
    /// - Parameters:
    ///   - chosen: The hosts that are spoken to.
    ///   - unreachable: The names of chosen hosts who are not on stage.
    /// - Returns: The talk, and whether the block has begun it.
    /// - Throws: 409 while another one speaks, 503 without a mixer.
    func receive(
        _ samples: ByteBuffer,
        from speaker: RoomTalkback.Speaker,
        sequence: Int,
        room: String,
        to chosen: [ParticipantView],
        unreachable: [String]
    ) throws -> (talk: RoomTalkback.Talk, isNew: Bool) {
        let now = clock.now
        let receivers = chosen.filter(\.sound.wantsReturn)
        let others = chosen.filter { !$0.sound.wantsReturn }.map(\.identity)
        let block = TalkbackBlock(
            hosts: receivers.map(\.sid),
            samples: Data(samples.readableBytesView)
        )
        let duration = Double(samples.readableBytes / TalkbackBlock.sampleSize) / Double(TalkbackBlock.sampleRate)
        let event = try EventStream.event(TalkbackBlock.eventName, block)
        return try state.withLock { state in
            guard let mixers = state.mixers[room], !mixers.isEmpty else { throw StageError.talkbackUnavailable }
            var talkback = state.talkbacks[room] ?? RoomTalkback()
            let verdict = try talkback.receive(from: speaker, sequence: sequence, duration: duration, now: now)
            talkback.address(hosts: receivers.map(\.identity), unreachable: others + unreachable)
            state.talkbacks[room] = talkback
            guard let talk = talkback.talk(at: now) else { throw StageError.internalError }
            if verdict != .dropped, !receivers.isEmpty { Self.write(event, to: room, &state, now) }
            return (talk, verdict == .begun)
        }
    }

    /// Ends the talk of a speaker.
    func end(room: String, by speaker: RoomTalkback.Speaker) {
        state.withLock { $0.talkbacks[room]?.end(by: speaker) }
    }

    /// Pings the room's mixers where no block has gone out for a while, so that they notice a dead connection.
    func mixerReported(room: String) {
        let now = clock.now
        state.withLock { state in
            guard state.mixers[room]?.contains(where: { now.seconds(since: $0.writtenAt) >= Self.ping }) ?? false else {
                return
            }
            Self.write(ByteBuffer(string: ": ping\n\n"), to: room, &state, now)
        }
    }

    /// Returns the response to a room's mixer, which runs until the mixer disconnects or another one replaces it.
    func response(to request: Request, room: String) -> Response {
        let (events, continuation) = AsyncStream.makeStream(
            of: ByteBuffer.self,
            bufferingPolicy: .bufferingNewest(Self.maximumQueued)
        )
        let now = clock.now
        let id = state.withLock { state in
            state.lastID += 1
            state.mixers[room, default: []].append(Mixer(id: state.lastID, events: continuation, writtenAt: now))
            while let mixers = state.mixers[room], mixers.count > Self.streamsPerRoom {
                state.mixers[room]?.removeFirst().events.finish()
            }
            return state.lastID
        }
        return EventStream.response(to: request, onEnd: { [weak self] in self?.leave(room, id) }) { writer in
            for await event in events.cancelOnGracefulShutdown() { try await writer.write(event) }
        }
    }

    private static func write(_ event: ByteBuffer, to room: String, _ state: inout State, _ now: MonotonicTime) {
        for index in (state.mixers[room] ?? []).indices {
            state.mixers[room]?[index].events.yield(event)
            state.mixers[room]?[index].writtenAt = now
        }
    }

    private func leave(_ room: String, _ id: UInt64) {
        state.withLock { state in
            guard let index = state.mixers[room]?.firstIndex(where: { $0.id == id }) else { return }
            state.mixers[room]?.remove(at: index).events.finish()
            guard state.mixers[room]?.isEmpty ?? false else { return }
            state.mixers[room] = nil
            state.talkbacks[room] = nil
        }
    }
}
