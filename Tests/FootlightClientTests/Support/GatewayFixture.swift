import FootlightClient
import Foundation
import Gateway
import FootlightModel
import Stage
import TestSupport
import Testing

/// A real gateway with a room, a fault proxy in front, and the calls of a test.
@MainActor
final class GatewayFixture {
    let gateway: GatewayProcess
    let proxy: FaultProxy
    let room: String
    /// A client of the operator, without the fault proxy.
    let operatorClient: BroadcastClient

    /// The gateway that tests share if they do not disturb it; each has a room of its own.
    private static let common = Task { try await GatewayProcess() }
    private static var rooms = 0

    /// - Parameters:
    ///   - environment: Settings that require a gateway of its own.
    ///   - isAlone: Whether the test has its own gateway, to count, load or kill it.
    ///   - settings: Changes the settings of the room.
    init(
        environment: [String: String] = [:],
        isAlone: Bool = false,
        _ settings: (inout CreateRoomBody) -> Void = { _ in }
    ) async throws {
        let isShared = !isAlone && environment.isEmpty
        gateway =
            isShared ? try await Self.common.value : try await GatewayProcess(environment: environment)
        proxy = try FaultProxy(to: gateway.endpoints.httpPort)
        Self.rooms += 1
        room = "show-\(Self.rooms)"
        operatorClient = BroadcastClient(
            baseURL: try Self.address(gateway.endpoints.httpPort),
            token: try gateway.operatorToken
        )
        var body = CreateRoomBody(uniqueName: room)
        settings(&body)
        _ = try await operatorClient.createRoom(body)
    }

    deinit {
        // The room must not outlive its test; a gateway of its own is stopped by then.
        Task { [operatorClient, room] in _ = try? await operatorClient.endRoom(room) }
    }

    nonisolated static func address(_ port: Int) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)"))
    }

    /// Issues a participant's token.
    func token(
        _ identity: String,
        _ mode: ParticipantMode,
        or others: [ParticipantMode] = [],
        rights: Set<String> = [],
        room: String? = nil
    ) async throws -> String {
        try await TokenIssuer(dataDirectory: gateway.dataFolder).participantToken(
            room: room ?? self.room,
            identity: identity,
            modes: ([mode] + others).map(\.rawValue),
            rights: rights,
            expiresIn: 600
        )
    }

    /// Returns a participant's client, through the fault proxy.
    func client(
        _ identity: String,
        _ mode: ParticipantMode = .receiveOnly,
        or others: [ParticipantMode] = [],
        rights: Set<String> = [],
        room: String? = nil,
        clock: ClientClock = .system
    ) async throws -> BroadcastClient {
        BroadcastClient(
            baseURL: try Self.address(proxy.port),
            token: try await token(identity, mode, or: others, rights: rights, room: room),
            clock: clock
        )
    }

    /// Returns a participant's call, through the fault proxy.
    func call(
        _ identity: String,
        _ mode: ParticipantMode = .receiveOnly,
        or others: [ParticipantMode] = [],
        rights: Set<String> = [],
        room: String? = nil,
        clock: ClientClock = .system
    ) async throws -> BroadcastCall {
        let client = try await client(identity, mode, or: others, rights: rights, room: room, clock: clock)
        return BroadcastCall(client: client, identity: identity)
    }

    /// Returns the joined call of a participant.
    func joined(
        _ identity: String,
        _ mode: ParticipantMode = .receiveOnly,
        clock: ClientClock = .system
    ) async throws -> BroadcastCall {
        let call = try await call(identity, mode, clock: clock)
        call.callSettings = CallSettings(isAudioOn: false, isVideoOn: false)
        call.join(CallJoin(room: room, mode: mode))
        try await call.reach(.joined)
        return call
    }
}

extension BroadcastCall {
    /// Waits until the call is in a phase.
    func reach(
        _ phase: CallPhase,
        within deadline: Duration = .seconds(20),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isReached = try await soon(within: deadline) { self.status.phase == phase }
        try #require(isReached, "stands at \(status.phase)", sourceLocation: sourceLocation)
    }

    /// Moves a clock until the call is in a phase.
    ///
    /// - Parameter line: The proxy; the clock stands still while a response through it is pending.
    func reach(
        _ phase: CallPhase,
        moving clock: ManualClientClock,
        by step: Duration,
        over line: FaultProxy? = nil,
        within deadline: Duration = .seconds(30),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isReached = try await soon(moving: clock, by: step, over: line, within: deadline) {
            self.status.phase == phase
        }
        try #require(isReached, "stands at \(status.phase)", sourceLocation: sourceLocation)
    }

    /// The code of the error that ended the call.
    var code: Int? { status.error?.code }
}

/// Polls `condition` on the main actor until it holds.
///
/// The deadline is generous for a loaded machine, and costs no time if the condition holds earlier.
///
/// - Returns: Whether the condition held before the deadline.
@MainActor
func soon(
    within deadline: Duration = .seconds(20),
    every pause: Duration = .milliseconds(15),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + deadline
    while true {
        if try await condition() { return true }
        if ContinuousClock.now >= end { return false }
        try await Task.sleep(for: pause)
    }
}

/// Moves a clock until `condition` holds, with about 10 ms of real time for each step.
///
/// - Parameters:
///   - step: The duration by which the clock moves each time.
///   - line: The proxy to the gateway; the clock stands still while a response through it is pending.
/// - Returns: Whether the condition held before the deadline.
@MainActor
func soon(
    moving clock: ManualClientClock,
    by step: Duration,
    over line: FaultProxy? = nil,
    within deadline: Duration = .seconds(30),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    try await soon(within: deadline) {
        if try await condition() { return true }
        guard line?.hasPendingResponse != true else { return false }
        // A resumed task may send a request before time moves on.
        if clock.advance(step) > 0 { try await Task.sleep(for: .milliseconds(20)) }
        return false
    }
}
