@testable import FootlightClient
import FootlightModel
import Stage
import Synchronization
import FootlightTesting
import Testing

/// Records the updates of a call, and of the calls after it, from the beginning.
@MainActor
final class CallLog {
    private(set) var statuses: [CallStatus] = []
    private(set) var events: [EventResource] = []
    private(set) var audience: [Int] = []
    private(set) var problems: [StageError] = []
    private var tasks: [Task<Void, Never>] = []

    init(_ call: BroadcastCall) {
        tasks = [
            follow(call.statusSubject.lastingStream()) { $0.statuses.append($1) },
            follow(call.eventSubject.lastingStream()) { $0.events.append($1) },
            follow(call.audienceSubject.lastingStream()) { $0.audience.append($1) },
            follow(call.problemSubject.lastingStream()) { $0.problems.append($1) },
        ]
    }

    deinit {
        for task in tasks { task.cancel() }
    }

    var phases: [CallPhase] { statuses.map(\.phase) }

    private func follow<Value: Sendable>(
        _ stream: AsyncStream<Value>,
        _ record: @escaping @MainActor (CallLog, Value) -> Void
    ) -> Task<Void, Never> {
        Task { [weak self] in
            for await value in stream {
                guard let self else { return }
                record(self, value)
            }
        }
    }
}

/// The steps between phases that the transitions U1 to U20 allow.
enum CallPhaseRules {
    /// Returns the first step that no transition allows; nil if all are allowed.
    static func violation(in statuses: [CallStatus]) -> String? {
        for (before, after) in zip(statuses, statuses.dropFirst()) where !isAllowed(before.phase, after.phase) {
            return "\(before.phase) -> \(after.phase)"
        }
        if let first = statuses.firstIndex(where: { $0.callState != .initialized }),
            statuses[first...].contains(where: { $0.callState == .initialized })
        {
            return "initialized again"
        }
        let isIn: (CallStatus) -> Bool = { status in
            switch status.callingState {
            case .inCall, .reconnecting: true
            default: false
            }
        }
        return statuses.contains { ($0.callState == .joined) != isIn($0) } ? "joined in one vocabulary alone" : nil
    }

    private static func isAllowed(_ before: CallPhase, _ after: CallPhase) -> Bool {
        switch (before, after) {
        // U1, U3, U6, U9; a join may also fail before it is sent.
        case (.idle, .lobby), (.idle, .incoming), (.idle, .outgoing), (.idle, .joining): true
        case (.left, .lobby), (.left, .incoming), (.left, .outgoing), (.left, .joining): true
        // U2, U6, U9.
        case (.lobby, .idle), (.lobby, .left(nil)), (.lobby, .outgoing), (.lobby, .joining): true
        // U4, U5.
        case (.incoming, .joining), (.incoming, .idle), (.incoming, .left): true
        // U7, U8.
        case (.outgoing, .joining), (.outgoing, .idle), (.outgoing, .left): true
        // U10, U11, U12.
        case (.joining, .joined), (.joining, .left(.some)), (.joining, .leaving): true
        // U13, U16, U18.
        case (.joined, .reconnecting), (.joined, .leaving), (.joined, .left(.some)): true
        // Another loss, once the first is restored.
        case (.reconnecting(let former), .reconnecting(let loss)): former != loss
        // U14, U15, U16.
        case (.reconnecting, .joined), (.reconnecting, .left(.some)), (.reconnecting, .leaving): true
        // U17.
        case (.leaving, .left(nil)): true
        default: false
        }
    }
}

/// Records the reports of a publisher.
@MainActor
final class StatisticsLog {
    private(set) var all: [PublisherStatistics] = []
    private var task: Task<Void, Never>?

    init(_ publisher: RTMPPublisher) {
        let statistics = publisher.statistics
        task = Task { [weak self] in
            for await report in statistics { self?.all.append(report) }
        }
    }

    deinit {
        task?.cancel()
    }

    /// The states without repetitions.
    var states: [PublisherState] {
        all.map(\.state).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
}

/// A thread-safe list of numbers.
final class NumberLog: Sendable {
    private let numbers = Mutex<[Int]>([])

    var recorded: [Int] { numbers.withLock { $0 } }

    func append(_ number: Int) {
        numbers.withLock { $0.append(number) }
    }
}
