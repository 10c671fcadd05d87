import FanOut
import FootlightTesting
@testable import Gateway
import GatewayModel
import Media
import NIOCore
import Stage
import Synchronization
import Testing
import Viewership

@Suite("Logs of content networks on their way to the count")
struct NetworkLogsTests {
    private func networkLogs() -> NetworkLogs {
        let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
        return NetworkLogs(logs: AudienceLogs(audience: ledger, clock: ManualClock()) { _ in true })
    }

    private func take(
        _ logs: NetworkLogs,
        of name: String = "cdn",
        _ body: @escaping @Sendable () async -> String
    ) async throws(StageError) -> LogReceiptResource {
        try await logs.take(of: name, room: nil) { () async throws(StageError) in
            ByteBuffer(string: await body())
        }
    }

    @Test("While a log of a sender comes in, another one of it is refused before its body is read; others are taken")
    func oneAtATime() async throws {
        let logs = networkLogs()
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (begun, whenBegun) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await take(logs) {
                whenBegun.finish()
                for await _ in gate {}
                return "{\"a\":1}"
            }
        }
        for await _ in begun {}
        let isRead = Mutex(false)
        let error = await #expect(throws: StageError.self) {
            try await take(logs) {
                isRead.withLock { $0 = true }
                return ""
            }
        }
        #expect(error?.retryAfter == 1 && error?.cause == "Another log of the same sender is being read")
        #expect(!isRead.withLock { $0 })
        #expect(try await take(logs, of: "other") { "{\"a\":1}" }.ignored == 1)
        opener.finish()
        #expect(try await first.value.ignored == 1)
        #expect(try await take(logs) { "{\"a\":1}" }.ignored == 1)
    }

    @Test("What cannot be read is refused with the status that says so, and the sender may send again")
    func refusals() async throws {
        let logs = networkLogs()
        let tooMany = String(repeating: "{\"a\":1}\n", count: AudienceLogs.lineLimit + 1)
        for (text, code) in [
            ("no log", StageError.malformed("").code), (tooMany, StageError.bodyTooLarge.code),
            (String(repeating: #"{"a":".m3u8"}"# + "\n", count: 2_000), StageError.malformed("").code),
        ] {
            let error = await #expect(throws: StageError.self) { try await take(logs) { text } }
            #expect(error?.code == code, "\(text.prefix(20))")
        }
        #expect(try await take(logs) { "{\"a\":1}" }.ignored == 1)
    }
}
