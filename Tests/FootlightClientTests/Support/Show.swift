import Foundation
import FootlightClient
import FootlightTesting
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

    init(
        room: String = "show",
        environment: [String: String] = [:],
        _ settings: CreateRoomBody? = nil
    ) async throws {
        gateway = try await GatewayProcess(environment: environment)
        proxy = try FaultProxy(to: gateway.endpoints.httpPort)
        self.room = room
        operatorClient = BroadcastClient(
            baseURL: try Self.address(gateway.endpoints.httpPort),
            token: try gateway.operatorToken
        )
        _ = try await operatorClient.createRoom(settings ?? CreateRoomBody(uniqueName: room))
    }

    static func address(_ port: Int) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)"))
    }

    /// A participant's own token.
    func token(_ identity: String, _ mode: ParticipantMode, room: String? = nil) async throws -> String {
        try await ChildProcess.run([
            GatewayProcess.findBinary(), "token", "--data-dir", gateway.dataFolder, "--room", room ?? self.room,
            "--identity", identity, "--mode", mode.rawValue,
        ]).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Somebody's client, over the bad line.
    func client(
        _ identity: String,
        _ mode: ParticipantMode = .receiveOnly,
        room: String? = nil,
        clock: ClientClock = .system
    ) async throws -> BroadcastClient {
        BroadcastClient(
            baseURL: try Self.address(proxy.port),
            token: try await token(identity, mode, room: room),
            clock: clock
        )
    }

    /// Somebody's call, over the bad line.
    func call(
        _ identity: String,
        _ mode: ParticipantMode = .receiveOnly,
        room: String? = nil,
        clock: ClientClock = .system
    ) async throws -> BroadcastCall {
        BroadcastCall(client: try await client(identity, mode, room: room, clock: clock), identity: identity)
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
        within deadline: Duration = .seconds(10),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isReached = try await soon(within: deadline) { self.status.phase == phase }
        try #require(isReached, "stands at \(status.phase)", sourceLocation: sourceLocation)
    }

    /// Moves a clock by hand until the call stands so; the world outside has some 10 ms for each step.
    func reach(
        _ phase: CallPhase,
        moving clock: ManualClientClock,
        by step: Duration,
        within deadline: Duration = .seconds(20),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let isReached = try await soon(within: deadline, every: .milliseconds(15)) {
            if self.status.phase == phase { return true }
            clock.advance(step)
            return false
        }
        try #require(isReached, "stands at \(status.phase)", sourceLocation: sourceLocation)
    }

    /// The code of the error that ended the call.
    var code: Int? { status.error?.code }
}
