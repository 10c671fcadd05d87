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
        _ body: ByteBuffer,
        isCompressed: Bool,
        of name: String,
        room: String?
    ) async throws(StageError) -> LogReceiptResource {
        do throws(AudienceLogs.Fault) {
            return LogReceiptResource(try await logs.take(body, isCompressed: isCompressed, of: name, room: room))
        } catch {
            switch error {
            case .tooLarge: throw .bodyTooLarge(limit: AudienceLogs.textLimit)
            case .notGzip: throw .malformed("the body is no gzip file")
            case .busy: throw .serverBusy(retryAfter: 2)
            }
        }
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
            dropped: receipt.dropped
        )
    }
}
