import ControlAPI
import FanOut
import GatewayModel
import NIOCore
import Stage

/// What content networks push to the control API, on its way to the count.
struct NetworkLogs: RequestLogTaking {
    let logs: AudienceLogs

    var bodyLimit: Int { AudienceLogs.bodyLimit }

    func take(
        of name: String,
        room: String?,
        body: @Sendable () async throws(StageError) -> ByteBuffer
    ) async throws(StageError) -> LogReceiptResource {
        guard logs.beginReceiving(of: name) else { throw .logBeingRead }
        defer { logs.endReceiving(of: name) }
        let body = try await body()
        do throws(AudienceLogs.Fault) {
            return LogReceiptResource(try await logs.take(body, of: name, room: room))
        } catch {
            switch error {
            case .tooLarge: throw .bodyTooLarge(limit: AudienceLogs.textLimit)
            case .notGzip: throw .malformed("the body is no gzip file")
            case .busy: throw .serverBusy(retryAfter: 2)
            case .tooManyLines: throw .logTooLong("A log may have at most \(AudienceLogs.lineLimit) lines")
            case .tooMuchWork: throw .logTooLong("Reading the log took too long, and no line of it was counted")
            case .malformed: throw .malformed("most lines are no log of requests, and none of them was counted")
            }
        }
    }
}

extension StageError {
    /// 429: a sender's logs are read one at a time.
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
