import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// Routes for the recordings of a room.
struct RecordingRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let answers: RoomAnswers
    /// Nil if the gateway records no programs.
    let recordings: (any RecordingControlling)?

    func add(to api: APIRoutes) {
        api.command(.post, "rooms/:room/recording/start") { call in
            let room = try rooms.streamingRoom(call)
            let recordings = try recorder()
            try rooms.admitProgram(of: room)
            try recordings.start(room: room.name)
            // Persisted with the room, so that recording continues after a restart.
            try rooms.directory.setRecorded(room: room.sid, true)
            await rooms.save(room)
            return try answer(recordings.status(room: room.name), call, .accepted)
        }

        api.command(.post, "rooms/:room/recording/stop") { call in
            let room = try rooms.streamingRoom(call)
            let recordings = try recorder()
            try recordings.stop(room: room.name)
            try rooms.directory.setRecorded(room: room.sid, false)
            await rooms.save(room)
            return try answer(recordings.status(room: room.name), call, .accepted)
        }

        api.read("rooms/:room/recording") { call in
            let room = try rooms.readableRoom(call)
            return try answer(try recorder().status(room: room.name), call)
        }

        api.read("rooms/:room/recordings") { call in
            let files = try recorder().files(room: call.path("room")).filter { call.claims.mayAccess($0) }
            guard !files.isEmpty || call.claims.mayAccessFiles(of: call.path("room")) else {
                throw StageError.tokenGrantsInvalid
            }
            let page = try PageRequest(call.request)
            let (entries, meta) = page.page(of: files) { PageRequest.Cursor(at: $0.startedAt, sid: $0.sid) }
            let addresses = answers.addresses(for: call.request)
            return try APIResponse.json(
                RecordingList(
                    recordings: entries.map { RecordedFileResource($0, addresses: addresses) },
                    meta: meta
                )
            )
        }

        api.read("recordings/:recording") { call in
            try APIResponse.json(RecordedFileResource(try file(call), addresses: answers.addresses(for: call.request)))
        }

        api.read("recordings/:recording/media.mp4") { call in try await media(call) }

        api.command(.delete, "recordings/:recording") { call in
            try await recorder().delete(try file(call).sid)
            return Response(status: .noContent)
        }
    }

    private func answer(
        _ status: RecordingStatus,
        _ call: APICall,
        _ code: HTTPResponse.Status = .ok
    ) throws -> Response {
        try APIResponse.json(RecordingResource(status, answers.addresses(for: call.request)), status: code)
    }

    private func recorder() throws(StageError) -> any RecordingControlling {
        guard let recordings else { throw .recordingNotStarted("This gateway keeps no recordings") }
        return recordings
    }

    /// Returns the file that the path names.
    ///
    /// - Throws: 53206 if there is none, or if the bearer may not access it.
    private func file(_ call: APICall) throws(StageError) -> RecordedFile {
        guard let file = try recorder().file(call.path("recording")), call.claims.mayAccess(file) else {
            throw .recordingNotFound
        }
        return file
    }

    private func media(_ call: APICall) async throws -> Response {
        let file = try file(call)
        guard let path = try recorder().path(file.sid), file.bytes > 0 else { throw StageError.recordingNotFound }
        return try await APIResponse.media(of: file, at: path, call.request, call.context, isDownload: true)
    }
}

extension APIResponse {
    /// Returns the bytes of a recorded file, which is not empty, or a range of them, read on threads for blocking work.
    ///
    /// Of a file that is being written, the complete fragments, which are playable.
    static func media(
        of file: RecordedFile,
        at path: String,
        _ request: Request,
        _ context: BasicRequestContext,
        isDownload: Bool
    ) async throws -> Response {
        var headers: HTTPFields = [.contentType: "video/mp4", .acceptRanges: "bytes", .cacheControl: "no-store"]
        if isDownload {
            headers[.contentDisposition] = "attachment; filename=\"\(file.roomName)-\(file.part).mp4\""
        }
        let range: ClosedRange<Int>
        var status = HTTPResponse.Status.ok
        switch FileByteRange(request.headers[.range], length: file.bytes) {
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
        let body = try await FileIO().loadFile(path: path, range: range, context: context)
        return Response(status: status, headers: headers, body: body)
    }
}

extension AccessClaims {
    /// Whether the bearer may access a recorded file.
    fileprivate func mayAccess(_ file: RecordedFile) -> Bool {
        has(.streaming, in: RecordedRoom(sid: file.roomSID, name: file.roomName))
    }

    /// Whether the bearer may learn that a room, in progress or not, has no files.
    fileprivate func mayAccessFiles(of room: String) -> Bool {
        has(.streaming, in: RecordedRoom(sid: room, name: room))
    }
}

/// A room as its recorded files name it; it may have ended long ago.
private struct RecordedRoom: NamedRoom {
    let sid: String
    let name: String
}

/// The part of a file that a `Range` header selects (RFC 9110 section 14.2): one range, or the whole file.
enum FileByteRange: Equatable {
    /// The header is missing, malformed, or names several ranges.
    case whole
    case part(ClosedRange<Int>)
    /// The range begins after the end of the file.
    case unsatisfiable

    init(_ header: String?, length: Int) {
        self = .whole
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }) else { return }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?) where first <= last:
            self = first < length ? .part(first...min(last, length - 1)) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < length ? .part(first...(length - 1)) : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && length > 0 ? .part(max(0, length - count)...(length - 1)) : .unsatisfiable
        default:
            return
        }
    }
}
