import FootlightModel
import Foundation
import Logging
import NIOCore
import NIOPosix
import Persistence
import Stage
import Synchronization
import TestSupport

@testable import Webhooks

/// A dispatcher with a temporary folder, and receivers on loopback.
final class DispatcherFixture: Sendable {
    let folder: TemporaryFolder
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let disabled = Mutex<[WebhookEndpoint]>([])
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    var path: String { folder.file("webhooks.sqlite") }

    private init() throws {
        folder = try TemporaryFolder("webhooks")
    }

    /// Runs a test, and shuts down all threads afterwards.
    static func run(_ body: (DispatcherFixture) async throws -> Void) async throws {
        let fixture = try DispatcherFixture()
        do {
            try await body(fixture)
        } catch {
            try await fixture.group.shutdownGracefully()
            throw error
        }
        try await fixture.group.shutdownGracefully()
    }

    /// A schedule of many attempts in quick succession that outlasts a test.
    static let fastRetries = RetrySchedule(delays: Array(repeating: 0.05, count: 400), jitter: 0, probeInterval: 0.05)

    func configuration(_ change: (inout WebhookConfiguration) -> Void = { _ in }) -> WebhookConfiguration {
        var configuration = WebhookConfiguration(
            allowsPlainHTTP: true,
            deadline: 3,
            schedule: Self.fastRetries
        )
        change(&configuration)
        return configuration
    }

    func dispatcher(
        _ configuration: WebhookConfiguration? = nil,
        path: String? = nil,
        vet: @escaping EndpointVetting = { host, _, _ in .addresses([host]) }
    ) throws -> WebhookDispatcher {
        let dispatcher = WebhookDispatcher(
            configuration ?? self.configuration(),
            store: OutboxStore(path: path ?? self.path, logger: logger),
            vet: vet,
            group: group,
            logger: logger
        )
        dispatcher.onEndpointDisabled { [weak self] endpoint in self?.disabled.withLock { $0.append(endpoint) } }
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

    /// Creates an endpoint for a receiver, which gets its secret.
    func endpoint(
        _ dispatcher: WebhookDispatcher,
        at receiver: WebhookReceiver,
        port: Int,
        types: [String]? = nil
    ) async throws -> WebhookEndpoint {
        var draft = WebhookDraft()
        draft.url = "http://127.0.0.1:\(port)/in"
        draft.types = types?.map { WireEnum(rawValue: $0) }
        let endpoint = try await dispatcher.create(draft)
        receiver.setSecrets([endpoint.secret])
        return endpoint
    }
}

extension WebhookDispatcher {
    /// Posts events `first` to `last`, identified by the number in their data.
    func post(_ numbers: ClosedRange<Int>, type: WebhookEventType = .stream(.roomUpdated)) {
        for number in numbers {
            post(
                WebhookEvent(type, room: .init(sid: "RM1", name: "show"), at: 1_800_000_000 + Double(number)) {
                    Data(#"{"number":\#(number)}"#.utf8)
                }
            )
        }
    }
}

extension [WebhookReceiver.ReceivedMessage] {
    /// The numbers of the events, in order of arrival.
    var numbers: [Int] {
        compactMap { $0.body.firstMatch(of: /"number":(\d+)/).flatMap { Int($0.1) } }
    }
}
