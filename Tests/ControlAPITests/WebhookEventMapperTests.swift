import FootlightModel
import Stage
import Synchronization
import Testing

@testable import ControlAPI

@Suite("Webhook events mapped from room events")
struct WebhookEventMapperTests {
    private final class EventLog: Sendable {
        private let state = Mutex((events: WebhookEventMapper(), names: [String]()))

        func add(_ event: StageEvent) {
            state.withLock { $0.names += $0.events.events(of: event).map(Self.text) }
        }

        private static func text(_ events: WebhookEventMapper.MappedEvent) -> String {
            guard case .participantLeft(let host, .roomEnded) = events.event.payload else {
                return events.name.rawValue
            }
            return "\(events.name.rawValue) \(host.identity)"
        }

        /// Returns the events since the last call.
        func drain() -> [String] {
            state.withLock { state in
                defer { state.names = [] }
                return state.names
            }
        }
    }

    @Test("Maps room starts, hosts joining and leaving, outputs going up and down, and mixer degradation")
    func show() async throws {
        try await ControlServer.run { (server) async throws in
            let (received, stage) = (EventLog(), server.directory)
            let observation = stage.observe { received.add($0) }
            defer { observation.cancel() }
            _ = try stage.create(RoomSettings(name: "show"))
            #expect(received.drain() == ["room.started"])

            _ = try stage.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
            _ = try stage.join(room: "show", JoinRequest(identity: "ben", mode: .receiveOnly))
            #expect(received.drain() == ["host.joined"])
            _ = try stage.changeMode(room: "show", participant: "ben", to: .signallingOnly)
            #expect(received.drain() == [])
            _ = try stage.changeMode(room: "show", participant: "ben", to: .sendAndReceive)
            #expect(received.drain() == ["host.joined"])
            _ = try stage.changeMode(room: "show", participant: "ben", to: .receiveOnly)
            #expect(received.drain() == ["host.left"])
            try stage.leave(room: "show", participant: "ben", reason: .left)
            #expect(received.drain() == [])
            try stage.leave(room: "show", participant: "ann", reason: .left)
            #expect(received.drain() == ["host.left"])

            func output(_ states: OutputStatus.State...) -> [String] {
                for state in states {
                    let status = OutputStatus(name: "yt", url: "rtmp://a/b", maskedStreamKey: "****wxyz", state: state)
                    stage.outputChanged(room: "show", status)
                }
                return received.drain()
            }
            #expect(output(.connecting, .connected, .connected) == ["output.up"])
            #expect(output(.interrupted, .connecting, .interrupted, .failed) == ["output.down"])
            #expect(output(.connected) == ["output.up"])
            // Stopped by command, and started again with a wrong key.
            #expect(output(.stopped, .connecting) == [])
            #expect(output(.failed) == ["output.down"])
            // Removed, and added again by its name.
            stage.livestreamChanged(room: "show", LivestreamStatus(state: .started, outputs: []))
            #expect(output(.failed) == ["output.down"])

            func mixer(_ levels: Int...) throws -> [String] {
                for level in levels {
                    let load = MixerLoad(level: level, reason: level > 0 ? .work : nil, work: 0.9, cores: 1)
                    try stage.report(room: "show", MixerReport(entries: [], load: load))
                }
                return received.drain()
            }
            #expect(try mixer(0, 0) == [])
            #expect(try mixer(1, 1, 2) == ["mixer.degraded", "mixer.degraded"])
            // Another change of the room does not concern the mixer.
            _ = try stage.stopLive(room: "show")
            #expect(received.drain() == [])
            #expect(try mixer(0, 3) == ["mixer.degraded", "mixer.degraded"])
            _ = try stage.join(room: "show", JoinRequest(identity: "cat", mode: .sendAndReceive))
            _ = try stage.join(room: "show", JoinRequest(identity: "dan", mode: .receiveOnly))
            #expect(received.drain() == ["host.joined"])
            // A mixer's report for an ended room is ignored.
            try stage.end(room: "show")
            #expect(received.drain() == ["host.left cat"])
        }
    }

    @Test("Rooms that existed at the start emit no start event, but their end")
    func known() async throws {
        try await ControlServer.run { (server) async throws in
            let stage = server.directory
            _ = try stage.create(RoomSettings(name: "show"))
            _ = try stage.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
            let events = Mutex(WebhookEventMapper(rooms: stage.rooms(.inProgress)))
            let names = Mutex<[String]>([])
            let observation = stage.observe { event in
                let received = events.withLock { $0.events(of: event) }
                names.withLock { $0 += received.map(\.name.rawValue) }
            }
            defer { observation.cancel() }
            try stage.end(room: "show")
            #expect(names.withLock { $0 } == ["host.left"])
        }
    }
}
