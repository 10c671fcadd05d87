import Stage
import Synchronization
import Testing

@testable import ControlAPI

@Suite("What the events of rooms amount to, in plain words")
struct ShowNewsTests {
    private final class Told: Sendable {
        private let state = Mutex((news: ShowNews(), names: [String]()))

        func add(_ event: StageEvent) {
            state.withLock { $0.names += $0.news.news(of: event).map(Self.text) }
        }

        private static func text(_ news: ShowNews.News) -> String {
            guard case .participantLeft(let host, .roomEnded) = news.event.payload else { return news.name }
            return "\(news.name) \(host.identity)"
        }

        /// What was told since the last look.
        func take() -> [String] {
            state.withLock { state in
                defer { state.names = [] }
                return state.names
            }
        }
    }

    @Test("a room that began, hosts who come and go whatever the way, outputs up and down, a mixer short of time")
    func show() async throws {
        try await ControlServer.run { (server) async throws in
            let (told, stage) = (Told(), server.directory)
            let observation = stage.observe { told.add($0) }
            defer { observation.cancel() }
            _ = try stage.create(RoomSettings(name: "show"))
            #expect(told.take() == ["room.started"])

            _ = try stage.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
            _ = try stage.join(room: "show", JoinRequest(identity: "ben", mode: .receiveOnly))
            #expect(told.take() == ["host.joined"])
            _ = try stage.changeMode(room: "show", participant: "ben", to: .signallingOnly)
            #expect(told.take() == [])
            _ = try stage.changeMode(room: "show", participant: "ben", to: .sendAndReceive)
            #expect(told.take() == ["host.joined"])
            _ = try stage.changeMode(room: "show", participant: "ben", to: .receiveOnly)
            #expect(told.take() == ["host.left"])
            try stage.leave(room: "show", participant: "ben", reason: .left)
            #expect(told.take() == [])
            try stage.leave(room: "show", participant: "ann", reason: .left)
            #expect(told.take() == ["host.left"])

            func output(_ states: OutputStatus.State...) -> [String] {
                for state in states {
                    let status = OutputStatus(name: "yt", url: "rtmp://a/b", maskedStreamKey: "****wxyz", state: state)
                    stage.outputChanged(room: "show", status)
                }
                return told.take()
            }
            #expect(output(.connecting, .connected, .connected) == ["output.up"])
            #expect(output(.interrupted, .connecting, .interrupted, .failed) == ["output.down"])
            #expect(output(.connected) == ["output.up"])
            // By command, and anew with a wrong key.
            #expect(output(.stopped, .connecting) == [])
            #expect(output(.failed) == ["output.down"])
            // Taken out without a word, and anew by its name.
            stage.livestreamChanged(room: "show", LivestreamStatus(state: .started, outputs: []))
            #expect(output(.failed) == ["output.down"])

            func mixer(_ levels: Int...) throws -> [String] {
                for level in levels {
                    let load = MixerLoad(level: level, reason: level > 0 ? "frame_work" : nil, work: 0.9, cores: 1)
                    try stage.report(room: "show", MixerReport(entries: [], load: load))
                }
                return told.take()
            }
            #expect(try mixer(0, 0) == [])
            #expect(try mixer(1, 1, 2) == ["mixer.degraded", "mixer.degraded"])
            // Another change of the room is none of the mixer's.
            _ = try stage.stopLive(room: "show")
            #expect(told.take() == [])
            #expect(try mixer(0, 3) == ["mixer.degraded", "mixer.degraded"])
            _ = try stage.join(room: "show", JoinRequest(identity: "cat", mode: .sendAndReceive))
            _ = try stage.join(room: "show", JoinRequest(identity: "dan", mode: .receiveOnly))
            #expect(told.take() == ["host.joined"])
            // Nobody is told of the mixer of a room that is over.
            try stage.end(room: "show")
            #expect(told.take() == ["host.left cat"])
        }
    }

    @Test("what was there before is no news, and its end is")
    func known() async throws {
        try await ControlServer.run { (server) async throws in
            let stage = server.directory
            _ = try stage.create(RoomSettings(name: "show"))
            _ = try stage.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
            let news = Mutex(ShowNews(rooms: stage.rooms(.inProgress)))
            let names = Mutex<[String]>([])
            let observation = stage.observe { event in
                let told = news.withLock { $0.news(of: event) }
                names.withLock { $0 += told.map(\.name) }
            }
            defer { observation.cancel() }
            try stage.end(room: "show")
            #expect(names.withLock { $0 } == ["host.left"])
        }
    }
}
