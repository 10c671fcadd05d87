import Foundation
import Stage
import TestSupport
import Testing

@testable import ControlAPI

@Suite("Routes for recorded files")
struct RecordingRoutesTests {
    private static let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })

    @Test("HEAD of a file has the status, lengths and ranges of GET, without a body")
    func head() async throws {
        let folder = try TemporaryFolder("recorded")
        let path = folder.file("one.mp4")
        try Self.bytes.write(to: URL(fileURLWithPath: path))
        try await ControlServer.run(recordings: OneRecording(path: path, bytes: Self.bytes.count)) { server in
            let media = "/v1/recordings/RC1/media.mp4"
            for (range, status, length, content) in [
                (nil, 200, "1000", nil), ("bytes=100-299", 206, "200", "bytes 100-299/1000"),
                ("bytes=-1", 206, "1", "bytes 999-999/1000"), ("bytes=1000-", 416, nil, "bytes */1000"),
            ] {
                let headers = range.map { ["Range": $0] } ?? [:]
                let get = try await server.ask("GET", media, headers: headers)
                let head = try await server.ask("HEAD", media, headers: headers)
                #expect(get.status == status && head.status == status, "\(range ?? "")")
                #expect(head.data.isEmpty && get.data.count == length.flatMap { Int($0) } ?? 0, "\(range ?? "")")
                if let length { #expect(head.headers["content-length"] == length, "\(range ?? "")") }
                for name in ["content-range", "content-length", "content-type", "accept-ranges"] {
                    #expect(head.headers[name] == get.headers[name], "\(name) of \(range ?? "all")")
                }
                #expect(head.headers["content-range"] == content)
            }
            #expect(try await server.ask("HEAD", "/v1/recordings/RC2/media.mp4").status == 404)
            #expect(try await server.ask("HEAD", media, as: .unauthenticated).status == 401)
        }
    }
}

/// A store with one recorded file.
private struct OneRecording: RecordingControlling {
    private let path: String
    private let one: RecordedFile

    init(path: String, bytes: Int) {
        self.path = path
        var file = RecordedFile(
            sid: "RC1",
            run: "1",
            part: 1,
            roomSID: "RM1",
            roomName: "show",
            startedAt: 0,
            width: 640,
            height: 360,
            codecs: "avc1.4D401F"
        )
        file.state = .completed
        file.bytes = bytes
        one = file
    }

    func start(room: String) throws(StageError) { throw .recordingNotFound }
    func stop(room: String) throws(StageError) { throw .recordingNotFound }
    func status(room: String) -> RecordingStatus { RecordingStatus() }
    func files(room: String) -> [RecordedFile] { [one] }
    func file(_ sid: String) -> RecordedFile? { sid == one.sid ? one : nil }
    func path(_ sid: String) -> String? { sid == one.sid ? path : nil }
    func delete(_ sid: String) async throws(StageError) { throw .recordingNotFound }
}
