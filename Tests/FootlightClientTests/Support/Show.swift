import Foundation
import FootlightClient
import FootlightTesting
import Gateway
import GatewayModel
import Stage
import Testing

/// A real gateway with a room, a bad line to it, and the calls of a test.
@MainActor
final class Show {
    let gateway: GatewayProcess
    let proxy: FaultProxy
    let room: String
    /// Asks the gateway directly, as the operator.
    let operatorClient: BroadcastClient

    /// The gateway of all tests that do nothing to it; each has a room of its own there.
    private static let common = Task { try await GatewayProcess() }
    private static var rooms = 0

    /// - Parameters:
    ///   - environment: Settings of a gateway of its own.
    ///   - isAlone: The gateway is the test's own, to be counted, loaded or killed.
    ///   - settings: Sets what is to be different in the room.
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
        // Nothing of a test is to go on beside the next one; on a gateway of its own it is gone by then.
        Task { [operatorClient, room] in _ = try? await operatorClient.endRoom(room) }
    }

    nonisolated static func address(_ port: Int) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)"))
    }

    /// A participant's own token; what else it may become, and what it may do to others.
    func token(
        _ identity: String,
        _ mode: ParticipantMode,
        or others: [ParticipantMode] = [],
        rights: Set<String> = [],
        room: String? = nil
    ) async throws -> String {
        try await TokenMint(dataDirectory: gateway.dataFolder).participantToken(
            room: room ?? self.room,
            identity: identity,
            modes: ([mode] + others).map(\.rawValue),
            rights: rights,
            expiresIn: 600
        )
    }

    /// Somebody's client, over the bad line.
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

    /// Somebody's call, over the bad line.
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

    /// Somebody in the room.
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
    /// Waits until the call stands so.
    func reach(
        _ phase: CallPhase,
        within deadline: Duration = .seconds(20),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isReached = try await soon(within: deadline) { self.status.phase == phase }
        try #require(isReached, "stands at \(status.phase)", sourceLocation: sourceLocation)
    }

    /// Moves a clock by hand until the call stands so.
    ///
    /// - Parameter line: The clock stands while an answer is due over it.
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
