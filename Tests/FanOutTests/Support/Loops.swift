@testable import FanOut
import Media
import NIOCore
import NIOPosix

/// Runs `body` with event loops that are gone afterwards.
func withLoops(_ count: Int = 2, _ body: (MultiThreadedEventLoopGroup) async throws -> Void) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
    do {
        try await body(group)
    } catch {
        try await group.shutdownGracefully()
        throw error
    }
    try await group.shutdownGracefully()
}

extension Feed {
    /// Waits until everything that was handed to the feed has reached all of its loops.
    func settle(_ group: any EventLoopGroup) async throws {
        try await home.submit {}.get()
        for loop in group.makeIterator() { try await loop.submit {}.get() }
    }
}
