import FootlightTesting
import Foundation
import GRDB
import Logging
import Media
import Stage
import Synchronization
import Viewership

@testable import Persistence

/// A ledger on a manual clock, and a history store in its own folder.
final class HistoryFixture {
    static let keys = SessionKeys(current: SessionKey(version: 1, secret: Array(1...32)))
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let clock = ManualClock(start: MonotonicTime(nanoseconds: 1_000_000_000_000))
    let start: MonotonicTime
    let folder: URL
    var ledger: ViewershipLedger
    var store: HistoryStore
    let room = "show"

    var path: String { folder.appendingPathComponent("viewership.sqlite").path }

    init() throws {
        start = clock.now
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        ledger = Self.ledger(clock, start)
        store = HistoryStore(HistoryStoreConfiguration(path: folder.path + "/viewership.sqlite"), logger: Self.logger)
        ledger.enableHistory()
        ledger.roomBegan(room, sid: "RM1")
    }

    deinit {
        // A folder that remains is harmless.
        try? FileManager.default.removeItem(at: folder)
    }

    private static func ledger(_ clock: ManualClock, _ start: MonotonicTime) -> ViewershipLedger {
        ViewershipLedger(
            keys: keys,
            clock: clock,
            configuration: .init(),
            startDate: Date(timeIntervalSince1970: 1_800_000_000 + clock.now.seconds(since: start))
        )
    }

    /// Replaces the ledger and store as after a kill; what is not on disk is lost.
    func restart(_ configuration: HistoryStoreConfiguration? = nil, began: Bool = true) {
        ledger = Self.ledger(clock, start)
        store = HistoryStore(configuration ?? HistoryStoreConfiguration(path: path), logger: Self.logger)
        ledger.enableHistory()
        ledger.restore(store.load())
        if began { ledger.roomBegan(room, sid: "RM1") }
    }

    func advance(to seconds: Double) {
        let target = start.advanced(seconds: seconds)
        while clock.now < target {
            clock.advance(to: min(clock.now.advanced(seconds: 1), target))
            ledger.advance(to: clock.now)
        }
    }

    func record(
        _ sid: String,
        _ kind: AudienceEvent.Kind,
        at seconds: Double,
        by playback: PlaybackProtocol,
        room: String? = nil
    ) {
        let at = start.advanced(seconds: seconds)
        if at > clock.now { clock.advance(to: at) }
        ledger.record(
            AudienceEvent(
                sid: sid,
                room: room ?? self.room,
                playback: playback,
                rendition: "720p",
                kind: kind,
                at: at
            )
        )
    }

    /// Delivers a CDN log line of a playlist that was requested at `seconds`; the clock does not move.
    func log(_ sid: String, at seconds: Double) {
        ledger.record(
            AudienceEvent(
                sid: sid,
                room: room,
                playback: .hls,
                kind: .playlistServed,
                at: start.advanced(seconds: seconds),
                isServedElsewhere: true,
                isLogged: true
            )
        )
    }

    /// Opens a connection at `seconds` that qualifies five seconds later.
    @discardableResult
    func watch(from seconds: Double, room: String? = nil) -> String {
        let sid = ledger.makeSession(room: room ?? self.room)
        record(sid, .opened, at: seconds, by: .rtmp, room: room)
        record(sid, .watched(since: start.advanced(seconds: seconds)), at: seconds + 5, by: .rtmp, room: room)
        return sid
    }

    /// Returns a row for each minute and cell, and one for each of the whole room.
    func minutes(
        room: String?,
        sid: String? = nil,
        from: Int64,
        to: Int64,
        step: Int64 = 1,
        by grouping: ViewershipGrouping? = nil,
        limit: Int = 100
    ) async throws -> [MinuteRow] {
        try await store.minutes(
            room: room,
            sid: sid,
            from: from,
            to: to,
            step: step,
            grouping: grouping,
            limit: limit
        )
    }

    /// Limits the database to a number of pages, as a full disk does; never below its current size.
    func limitPages(to count: Int) throws {
        try store.connection.opened().store.write { try $0.execute(sql: "PRAGMA max_page_count = \(count)") }
    }

    /// The number and the sum of startup times, in seconds.
    var startups: (count: Double, sum: Double) {
        let family = ledger.metrics().first { $0.name == "footlight_viewer_startup_seconds" }
        func value(_ suffix: String) -> Double { family?.samples.first { $0.suffix == suffix }?.value ?? -1 }
        return (value("_count"), value("_sum"))
    }

    func write() async -> Bool {
        await store.write(ledger.drainHistory())
    }
}
