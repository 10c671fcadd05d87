import FootlightTesting
import Foundation
import Logging
import Media
import Stage
import Synchronization

@testable import Recording

/// A recording control on a folder of its own, and a program that a test plays into it.
final class Studio: Sendable {
    static let room = "show"
    static let roomSID = "RM" + String(repeating: "a", count: 32)

    struct State {
        var statuses: [RecordingStatus] = []
        var rotations = 0
        var failures: [StageError] = []
        var control: RecordingControl?
    }

    let folder: TemporaryFolder
    private let feeds = StudioFeeds()
    private let state = Mutex(State())

    /// - Parameter configure: Changes the configuration of a recording below the folder.
    init(_ folder: TemporaryFolder? = nil, configure: (inout RecordingConfiguration) -> Void = { _ in }) throws {
        self.folder = try folder ?? TemporaryFolder("recording")
        var configuration = RecordingConfiguration(folder: self.folder.path + "/recordings", reservedBytes: 0)
        configure(&configuration)
        let control = RecordingControl(configuration, feeds: feeds, logger: Logger(label: "test")) {
            [weak self] _, status in
            self?.state.withLock { $0.statuses.append(status) }
        } onRotation: { [weak self] _, _ in
            self?.state.withLock { $0.rotations += 1 }
        } onFailure: { [weak self] _, error in
            self?.state.withLock { $0.failures.append(error) }
        }
        state.withLock { $0.control = control }
    }

    var control: RecordingControl {
        get throws {
            guard let control = state.withLock({ $0.control }) else { throw ToolFailure("no control") }
            return control
        }
    }

    /// Sends packets to whoever records.
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
        try control.roomBegan(Self.room, sid: Self.roomSID, groupSeconds: 2, isRecorded: false)
        try control.start(room: Self.room)
    }

    /// Ends the recording, and gives its files once they are written.
    func end() async throws -> [RecordedFile] {
        try control.stop(room: Self.room)
        try await settle()
        return try control.files(room: Self.room)
    }

    /// Waits until nothing is written any more.
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
    var listeners: Int { feeds.sinks.count }
}
