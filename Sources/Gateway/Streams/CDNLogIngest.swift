import ControlAPI
import FanOut
import FootlightModel
import NIOCore
import Stage

/// Receives the logs that content networks push to the control API.
struct CDNLogIngest: CDNLogReceiving {
    let logs: CDNLogReader

    var bodyLimit: Int { CDNLogReader.bodyLimit }

    func read(
        of name: String,
        room: String?,
        body: @Sendable () async throws(StageError) -> ByteBuffer
    ) async throws(StageError) -> LogReceiptResource {
        guard logs.beginReceiving(of: name) else { throw .logBeingRead }
        defer { logs.endReceiving(of: name) }
        let body = try await body()
        do throws(CDNLogReader.Fault) {
            return LogReceiptResource(try await logs.read(body, of: name, room: room))
        } catch {
            switch error {
            case .tooLarge: throw .bodyTooLarge(limit: CDNLogReader.textLimit)
            case .notGzip: throw .malformed("the body is not a gzip file")
            case .busy: throw .serverBusy(retryAfter: 2)
            case .tooManyLines: throw .logTooLong("A log may have at most \(CDNLogReader.lineLimit) lines")
            case .tooMuchWork: throw .logTooLong("Reading the log took too long, and no line of it was counted")
            case .malformed: throw .malformed("most lines are not access log entries, and none was counted")
            }
        }
    }
}

extension StageError {
    /// 429: the logs of a sender are read one at a time.
    fileprivate static let logBeingRead: StageError = {
        var error = StageError.tooManyRequests(retryAfter: 1)
        error.cause = "Another log of the same sender is being read"
        error.solution = "Send one log at a time"
        return error
    }()

    /// 53004 with status 413.
    fileprivate static func logTooLong(_ cause: String) -> StageError {
        var error = StageError.bodyTooLarge
        error.cause = cause
        error.solution = "Send less at a time"
        return error
    }
}

extension LogReceiptResource {
    init(_ receipt: LogReceipt) {
        self.init(
            taken: receipt.taken,
            ignored: receipt.ignored,
            nameless: receipt.nameless,
            malformed: receipt.malformed,
            late: receipt.late,
            dropped: receipt.dropped,
            repeated: receipt.repeated
        )
    }
}
