import ControlAPI
import GatewayModel
import NIOCore
import Stage
import Synchronization

/// Keeps what it is told, and answers with the number of its lines.
final class RecordingLogs: RequestLogTaking {
    struct Push: Equatable {
        var text: String
        var name: String
        var room: String?
    }

    private let kept = Mutex<[Push]>([])

    var pushes: [Push] { kept.withLock { $0 } }

    let bodyLimit = 1 << 16

    func take(
        of name: String,
        room: String?,
        body: @Sendable () async throws(StageError) -> ByteBuffer
    ) async throws(StageError) -> LogReceiptResource {
        let text = String(buffer: try await body())
        kept.withLock { $0.append(Push(text: text, name: name, room: room)) }
        let lines = text.split(separator: "\n").count
        return LogReceiptResource(taken: lines, ignored: 0, nameless: 0, malformed: 0, late: 0, dropped: 0)
    }
}
