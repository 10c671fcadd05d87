import FootlightTesting
import Foundation
import Logging
import Media
import Stage
import Synchronization
import TestSupport

@testable import Recording

/// A recording controller with its own folder, and a program played by the test.
final class RecordingFixture: Sendable {
    static let room = "show"
    static let roomSID = "RM" + String(repeating: "a", count: 32)

    struct State {
        var statuses: [RecordingStatus] = []
        var rotations = 0
        var failures: [StageError] = []
        var control: RecordingController?
    }

    let folder: TemporaryFolder
    private let feeds = FixtureFeeds()
    private let state = Mutex(State())

    /// - Parameter configure: Changes the recording configuration.
    init(_ folder: TemporaryFolder? = nil, configure: (inout RecordingConfiguration) -> Void = { _ in }) throws {
        self.folder = try folder ?? TemporaryFolder("recording")
        var configuration = RecordingConfiguration(folder: self.folder.path + "/recordings", reservedBytes: 0)
        configure(&configuration)
        let control = RecordingController(configuration, feeds: feeds, logger: Logger(label: "test")) {
            [weak self] _, status in
            self?.state.withLock { $0.statuses.append(status) }
        } onRotation: { [weak self] _, _ in
            self?.state.withLock { $0.rotations += 1 }
        } onFailure: { [weak self] _, error in
            self?.state.withLock { $0.failures.append(error) }
        }
        state.withLock { $0.control = control }
    }

    var control: RecordingController {
        get throws {
            guard let control = state.withLock({ $0.control }) else { throw ToolFailure("no control") }
            return control
        }
    }

    /// Sends packets to the attached sinks.
    func play(_ packets: [MediaPacket], delayedBy milliseconds: Int64 = 0) {
        let sinks = feeds.sinks
        for var packet in packets {
            packet.timestamp += milliseconds
            for sink in sinks { sink.receive(packet) }
        }
    }

    func changePublisher() {
        for sink in feeds.sinks { sink.publisherChanged() }
    }

    func begin() throws {
        try control.roomBegan(Self.room, sid: Self.roomSID, gopSeconds: 2, isRecorded: false)
        try control.start(room: Self.room)
    }

    /// Stops the recording and returns its complete files.
    func end() async throws -> [RecordedFile] {
        try control.stop(room: Self.room)
        try await settle()
        return try control.files(room: Self.room)
    }

    /// Waits until writing has ended.
    func settle() async throws {
        let control = try control
        let hasEnded = try await eventually {
            control.status(room: Self.room).state == .stopped
        }
        guard hasEnded else { throw ToolFailure("the recording does not end") }
    }

    func path(_ file: RecordedFile) throws -> String {
        guard let path = try control.path(file.sid) else { throw ToolFailure("no path") }
        return path
    }

    var states: [RecordingState] { state.withLock { $0.statuses.map(\.state) } }
    var rotations: Int { state.withLock { $0.rotations } }
    var failures: [StageError] { state.withLock { $0.failures } }
    var sinkCount: Int { feeds.sinks.count }
}

/// The program feed of a fixture with its attached sinks.
final class FixtureFeeds: ProgramFeeding {
    private let attached = Mutex<[any PacketSink]>([])

    var sinks: [any PacketSink] { attached.withLock { $0 } }

    func attach(_ sink: any PacketSink, room: String) {
        attached.withLock { $0.append(sink) }
    }

    func detach(_ sink: any PacketSink, room: String) {
        attached.withLock { $0.removeAll { $0 === sink } }
    }
}
