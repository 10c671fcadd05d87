import FootlightTesting
import Foundation
import Logging
import NIOCore
import NIOPosix
import Synchronization

@testable import Webhooks

/// A dispatcher on a folder of its own, and receivers on the loopback.
final class Stand: Sendable {
    let folder: TemporaryFolder
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let disabled = Mutex<[WebhookEndpoint]>([])
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    var path: String { folder.file("webhooks.sqlite") }

    private init() throws {
        folder = try TemporaryFolder("webhooks")
    }

    /// Runs a test, and ends all threads afterwards.
    static func run(_ body: (Stand) async throws -> Void) async throws {
        let stand = try Stand()
        do {
            try await body(stand)
        } catch {
            try await stand.group.shutdownGracefully()
            throw error
        }
        try await stand.group.shutdownGracefully()
    }

    /// Many tries soon after each other, and patience enough for all of a test.
    static let hasty = RetrySchedule(delays: Array(repeating: 0.05, count: 400), jitter: 0, probing: 0.05)

    func configuration(_ change: (inout WebhookConfiguration) -> Void = { _ in }) -> WebhookConfiguration {
        var configuration = WebhookConfiguration(path: path, allowsPlainHTTP: true, deadline: 3, schedule: Self.hasty)
        change(&configuration)
        return configuration
    }

    func dispatcher(
        _ configuration: WebhookConfiguration? = nil,
        vet: @escaping EndpointVetting = { host, _, _ in .addresses([host]) }
    ) throws -> WebhookDispatcher {
        let dispatcher = try WebhookDispatcher(
            configuration ?? self.configuration(),
            vet: vet,
            group: group,
            logger: logger
        )
        dispatcher.whenDisabled { [weak self] endpoint in self?.disabled.withLock { $0.append(endpoint) } }
        dispatcher.load()
        return dispatcher
    }

    /// Delivers while `body` runs.
    func delivering(_ dispatcher: WebhookDispatcher, _ body: () async throws -> Void) async throws {
        let running = Task { await dispatcher.run() }
        do {
            try await body()
        } catch {
            running.cancel()
            await running.value
            throw error
        }
        running.cancel()
        await running.value
    }

    /// Makes an endpoint at a receiver that knows its secret.
    func endpoint(
        _ dispatcher: WebhookDispatcher,
        at receiver: Receiver,
        port: Int,
        types: [String]? = nil
    ) async throws -> WebhookEndpoint {
        var draft = WebhookDraft()
        draft.url = "http://127.0.0.1:\(port)/in"
        draft.types = types
        let endpoint = try await dispatcher.create(draft)
        receiver.know([endpoint.secret])
        return endpoint
    }
}

extension WebhookDispatcher {
    /// Posts events `first` to `last`, told apart by the number in their data.
    func post(_ numbers: ClosedRange<Int>, type: String = "room.updated") {
        for number in numbers {
            post(
                WebhookEvent(type, room: .init(sid: "RM1", name: "show"), at: 1_800_000_000 + Double(number)) {
                    Data(#"{"number":\#(number)}"#.utf8)
                }
            )
        }
    }
}

extension [Receiver.Letter] {
    /// The numbers of the events, in the order in which they came.
    var numbers: [Int] {
        compactMap { $0.body.firstMatch(of: /"number":(\d+)/).flatMap { Int($0.1) } }
    }
}
