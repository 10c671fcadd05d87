import Foundation
import GRDB
import Logging
import Media
import SQLiteStore
import Stage
import Synchronization
import Viewership

@testable import ViewershipStore

/// A ledger on a clock that is moved by hand, and a keeper on a folder of its own.
final class HistoryStand {
    static let keys = SessionKeys(current: SessionKey(version: 1, secret: Array(1...32)))
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let clock = HandClock()
    let start: MonotonicTime
    let folder: URL
    var ledger: ViewershipLedger
    var keeper: HistoryKeeper
    let room = "show"

    var path: String { folder.appendingPathComponent("viewership.sqlite").path }

    init() throws {
        start = clock.now
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        ledger = Self.ledger(clock, start)
        keeper = HistoryKeeper(HistoryStoreConfiguration(path: folder.path + "/viewership.sqlite"), logger: Self.logger)
        ledger.keepHistory()
        ledger.roomBegan(room, sid: "RM1")
    }

    deinit {
        // A folder that stays is no harm.
        try? FileManager.default.removeItem(at: folder)
    }

    private static func ledger(_ clock: HandClock, _ start: MonotonicTime) -> ViewershipLedger {
        ViewershipLedger(
            keys: keys,
            clock: clock,
            configuration: .init(),
            startDate: Date(timeIntervalSince1970: 1_800_000_000 + clock.now.seconds(since: start))
        )
    }

    /// What is not on disk is lost; another ledger and keeper begin where these were killed.
    func restart(_ configuration: HistoryStoreConfiguration? = nil, began: Bool = true) {
        ledger = Self.ledger(clock, start)
        keeper = HistoryKeeper(configuration ?? HistoryStoreConfiguration(path: path), logger: Self.logger)
        ledger.keepHistory()
        ledger.restore(keeper.load())
        if began { ledger.roomBegan(room, sid: "RM1") }
    }

    func advance(to seconds: Double) {
        let target = start.advanced(seconds: seconds)
        while clock.now < target {
            clock.move(to: min(clock.now.advanced(seconds: 1), target))
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
        if at > clock.now { clock.move(to: at) }
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

    /// The log of a content network reports a playlist that a player asked for at `seconds`; the clock stays.
    func log(_ sid: String, at seconds: Double) {
        ledger.record(
            AudienceEvent(
                sid: sid,
                room: room,
                playback: .hls,
                kind: .playlistServed,
                at: start.advanced(seconds: seconds),
                isElsewhere: true,
                isLogged: true
            )
        )
    }

    /// A connection that opens at `seconds` and is proven to watch five seconds later.
    @discardableResult
    func watch(from seconds: Double, room: String? = nil) -> String {
        let sid = ledger.makeSession(room: room ?? self.room)
        record(sid, .opened, at: seconds, by: .rtmp, room: room)
        record(sid, .watched(since: start.advanced(seconds: seconds)), at: seconds + 5, by: .rtmp, room: room)
        return sid
    }

    /// A row for each minute, and one for each of the whole room.
    func minutes(
        room: String?,
        from: Int64,
        to: Int64,
        step: Int64 = 1,
        by grouping: ViewershipTimeline.Grouping? = nil,
        limit: Int = 100
    ) async throws -> [MinuteRow] {
        try await keeper.minutes(room: room, from: from, to: to, step: step, grouping: grouping, limit: limit)
    }

    /// As on a disk that has room for so many pages and no more; never fewer than there are.
    func limitPages(to count: Int) throws {
        try keeper.shelf.withLock { (shelf) throws(StoreFault) in
            try shelf.opened().store.write { try $0.execute(sql: "PRAGMA max_page_count = \(count)") }
        }
    }

    /// How many waited for their first media, and for how many seconds all together.
    var startups: (count: Double, sum: Double) {
        let family = ledger.metrics().first { $0.name == "footlight_viewer_startup_seconds" }
        func value(_ suffix: String) -> Double { family?.samples.first { $0.suffix == suffix }?.value ?? -1 }
        return (value("_count"), value("_sum"))
    }

    func write() async -> Bool {
        await keeper.write(ledger.takeHistory())
    }
}

/// A clock that a test moves by hand.
final class HandClock: MonotonicClock {
    private let time = Atomic<Int64>(1_000_000_000_000)

    var now: MonotonicTime { MonotonicTime(nanoseconds: time.load(ordering: .relaxed)) }

    func move(to moment: MonotonicTime) {
        time.store(moment.nanoseconds, ordering: .relaxed)
    }
}
