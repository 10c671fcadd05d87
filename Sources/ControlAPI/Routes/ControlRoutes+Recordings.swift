import GatewayModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

extension ControlRoutes {
    func addRecordings(to api: APIRoutes) {
        api.command(.post, "rooms/:room/recording/start") { call in
            let room = try streamingRoom(call)
            let recordings = try recorder()
            try admitProgram(of: room)
            try recordings.start(room: room.name)
            // Kept with the room, so that a restart in mid-show goes on recording.
            try directory.setRecorded(room: room.sid, true)
            await keep(room)
            return try Reply.json(RecordingResource(recordings.status(room: room.name)), status: .accepted)
        }

        api.command(.post, "rooms/:room/recording/stop") { call in
            let room = try streamingRoom(call)
            let recordings = try recorder()
            try recordings.stop(room: room.name)
            try directory.setRecorded(room: room.sid, false)
            await keep(room)
            return try Reply.json(RecordingResource(recordings.status(room: room.name)), status: .accepted)
        }

        api.read("rooms/:room/recording") { call in
            let room = try readableRoom(call)
            return try Reply.json(RecordingResource(try recorder().status(room: room.name)))
        }

        api.read("rooms/:room/recordings") { call in
            let files = try recorder().files(room: call.path("room")).filter { call.claims.mayHave($0) }
            guard !files.isEmpty || call.claims.mayHaveFiles(of: call.path("room")) else {
                throw StageError.tokenGrantsInvalid
            }
            let page = try PageRequest(call.request)
            let (entries, meta) = page.page(of: files) { PageRequest.Mark(at: $0.startedAt, sid: $0.sid) }
            let addresses = addresses(for: call.request)
            return try Reply.json(
                RecordingList(
                    recordings: entries.map { RecordedFileResource($0, addresses: addresses) },
                    meta: meta
                )
            )
        }

        api.read("recordings/:recording") { call in
            try Reply.json(RecordedFileResource(try file(call), addresses: addresses(for: call.request)))
        }

        api.read("recordings/:recording/media.mp4") { call in try await media(call) }
        api.head("recordings/:recording/media.mp4") { call in try await media(call).createHeadResponse() }

        api.command(.delete, "recordings/:recording") { call in
            try await recorder().delete(try file(call).sid)
            return Response(status: .noContent)
        }
    }

    private func recorder() throws(StageError) -> any RecordingControlling {
        guard let recordings else { throw .recordingNotStarted("This gateway keeps no recordings") }
        return recordings
    }

    /// The file that the path names, if the bearer may have it.
    ///
    /// - Throws: 53206, to whoever may not know of it too.
    private func file(_ call: Call) throws(StageError) -> RecordedFile {
        guard let file = try recorder().file(call.path("recording")), call.claims.mayHave(file) else {
            throw .recordingNotFound
        }
        return file
    }

    /// The bytes of a file, or a range of them; read by threads for blocking work, as fast as the client takes them.
    ///
    /// Of a file that is being written what is there now: whole fragments, which play.
    private func media(_ call: Call) async throws -> Response {
        let file = try file(call)
        guard let path = try recorder().path(file.sid), file.bytes > 0 else { throw StageError.recordingNotFound }
        var headers: HTTPFields = [
            .contentType: "video/mp4",
            .acceptRanges: "bytes",
            .cacheControl: "no-store",
            .contentDisposition: "attachment; filename=\"\(file.roomName)-\(file.part).mp4\"",
        ]
        let range: ClosedRange<Int>
        var status = HTTPResponse.Status.ok
        switch FileRange(call.request.headers[.range], length: file.bytes) {
        case .whole:
            range = 0...(file.bytes - 1)
        case .part(let part):
            range = part
            status = .partialContent
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound)/\(file.bytes)"
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(file.bytes)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
        headers[.contentLength] = String(range.count)
        let body = try await FileIO().loadFile(path: path, range: range, context: call.context)
        return Response(status: status, headers: headers, body: body)
    }
}

extension AccessClaims {
    /// Recorded files are for those who run the show.
    fileprivate func mayHave(_ file: RecordedFile) -> Bool {
        has(.streaming, in: RecordedRoom(sid: file.roomSID, name: file.roomName))
    }

    /// Whether the bearer may know that a room, in progress or not, has no files.
    fileprivate func mayHaveFiles(of room: String) -> Bool {
        has(.streaming, in: RecordedRoom(sid: room, name: room))
    }
}

/// A room by what its files say of it; it may be over for long.
private struct RecordedRoom: NamedRoom {
    let sid: String
    let name: String
}
