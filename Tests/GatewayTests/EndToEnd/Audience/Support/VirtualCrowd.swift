import Foundation
import Synchronization

/// Many virtual players, moved by a few threads of their own.
final class VirtualCrowd: Sendable {
    private final class Lane: Sendable {
        let players: Mutex<[VirtualPlayer]>

        init(_ players: [VirtualPlayer]) {
            self.players = Mutex(players)
        }
    }

    private let lanes: [Lane]

    /// - Parameter laneCount: How many of them ask at the same time.
    init(_ players: [VirtualPlayer], lanes laneCount: Int = 8) {
        lanes = (0..<laneCount).map { lane in
            Lane(players.indices.filter { $0 % laneCount == lane }.map { players[$0] })
        }
    }

    /// Does the same with each player, those of a lane one after the other.
    func each(_ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void) async throws {
        try await each(atMost: .max, body)
    }

    /// Does the same with one player of each lane, all at the same time.
    func together(_ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void) async throws {
        try await each(atMost: 1, body)
    }

    private func each(
        atMost count: Int,
        _ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in lanes {
                group.addTask {
                    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                        // A thread of its own, since it waits for answers.
                        Thread.detachNewThread {
                            continuation.resume(
                                with: Result {
                                    try lane.players.withLock { players in
                                        for index in players.indices.prefix(count) { try body(&players[index]) }
                                    }
                                }
                            )
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
