import FootlightClient
import FootlightTesting
import GatewayModel
import Stage
import Testing

/// What a call told of itself, from the beginning.
@MainActor
final class CallLog {
    private(set) var statuses: [CallStatus] = []
    private(set) var events: [EventResource] = []
    private(set) var audience: [Int] = []
    private(set) var problems: [StageError] = []
    private var tasks: [Task<Void, Never>] = []

    init(_ call: BroadcastCall) {
        tasks = [
            follow(call.statuses) { $0.statuses.append($1) },
            follow(call.events) { $0.events.append($1) },
            follow(call.audienceCounts) { $0.audience.append($1) },
            follow(call.problems) { $0.problems.append($1) },
        ]
    }

    deinit {
        for task in tasks { task.cancel() }
    }

    var phases: [CallPhase] { statuses.map(\.phase) }

    private func follow<Value: Sendable>(
        _ stream: AsyncStream<Value>,
        _ note: @escaping @MainActor (CallLog, Value) -> Void
    ) -> Task<Void, Never> {
        Task { [weak self] in
            for await value in stream {
                guard let self else { return }
                note(self, value)
            }
        }
    }
}
