import FanOut
@testable import Gateway
import FootlightTesting
import FootlightModel
import Media
import NIOCore
import Stage
import Synchronization
import Testing
import Viewership

@Suite("CDN logs pushed to the control API")
struct CDNLogIngestTests {
    private func networkLogs() -> CDNLogIngest {
        let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
        return CDNLogIngest(logs: CDNLogReader(audience: ledger, clock: ManualClock()) { _ in true })
    }

    private func read(
        _ logs: CDNLogIngest,
        of name: String = "cdn",
        _ body: @escaping @Sendable () async -> String
    ) async throws(StageError) -> LogReceiptResource {
        try await logs.read(of: name, room: nil) { () async throws(StageError) in
            ByteBuffer(string: await body())
        }
    }

    @Test("refuses a second concurrent log of a sender before reading its body, and accepts other senders")
    func oneAtATime() async throws {
        let logs = networkLogs()
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (begun, whenBegun) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await read(logs) {
                whenBegun.finish()
                for await _ in gate {}
                return "{\"a\":1}"
            }
        }
        for await _ in begun {}
        let isRead = Mutex(false)
        let error = await #expect(throws: StageError.self) {
            try await read(logs) {
                isRead.withLock { $0 = true }
                return ""
            }
        }
        #expect(error?.retryAfter == 1 && error?.cause == "Another log of the same sender is being read")
        #expect(!isRead.withLock { $0 })
        #expect(try await read(logs, of: "other") { "{\"a\":1}" }.ignored == 1)
        opener.finish()
        #expect(try await first.value.ignored == 1)
        #expect(try await read(logs) { "{\"a\":1}" }.ignored == 1)
    }

    @Test("refuses unreadable logs with the right status, and accepts the sender's next log")
    func refusals() async throws {
        let logs = networkLogs()
        let tooMany = String(repeating: "{\"a\":1}\n", count: CDNLogReader.lineLimit + 1)
        for (text, code) in [
            ("no log", StageError.malformed("").code), (tooMany, StageError.bodyTooLarge.code),
            (String(repeating: #"{"a":".m3u8"}"# + "\n", count: 2_000), StageError.malformed("").code),
        ] {
            let error = await #expect(throws: StageError.self) { try await read(logs) { text } }
            #expect(error?.code == code, "\(text.prefix(20))")
        }
        #expect(try await read(logs) { "{\"a\":1}" }.ignored == 1)
    }
}
