import Foundation
import GRDB
import Logging
import NIOCore
import Stage
import Synchronization
import Viewership

@testable import Persistence
@testable import Webhooks

/// A database with generated rows, in the tables of any schema version.
private enum GeneratedDatabase {
    private static let folder: String = {
        let folder = "\(NSTemporaryDirectory())/database-\(ProcessInfo.processInfo.processIdentifier)"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }()

    /// Empty databases by schema version, as files, because creating the tables is slow.
    private static let empty = Mutex<[String: Data]>([:])

    /// Creates the database and returns its path; nil if SQLite refuses it.
    static func make(
        _ migrations: DatabaseMigrator,
        usual: [String: String],
        from input: inout FuzzInput
    ) -> String? {
        let path = folder + "/database.sqlite"
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let versions = migrations.migrations
        let version = versions[Int(input.byte()) % versions.count]
        if let known = empty.withLock({ $0[version] }) {
            guard (try? known.write(to: URL(fileURLWithPath: path))) != nil else { return nil }
        } else {
            guard let queue = try? DatabaseQueue(path: path), (try? migrations.migrate(queue, upTo: version)) != nil,
                (try? queue.close()) != nil, let file = FileManager.default.contents(atPath: path)
            else { return nil }
            empty.withLock { $0[version] = file }
        }
        guard let queue = try? DatabaseQueue(path: path) else { return nil }
        try? queue.write { database in
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'grdb%' ORDER BY name"
            )
            for _ in 0..<12 where input.rest.readableBytes > 0 {
                let table = tables[Int(input.byte()) % tables.count]
                let columns = try database.columns(in: table)
                let values = columns.map { value(of: $0, usual: usual, from: &input) }
                let names = columns.map(\.name).joined(separator: ", ")
                let places = columns.map { _ in "?" }.joined(separator: ", ")
                // A row that violates the table's constraints cannot exist.
                try? database.execute(
                    sql: "INSERT OR REPLACE INTO \(table) (\(names)) VALUES (\(places))",
                    arguments: StatementArguments(values)
                )
            }
        }
        try? queue.close()
        return path
    }

    private static func value(
        of column: ColumnInfo,
        usual: [String: String],
        from input: inout FuzzInput
    ) -> (any DatabaseValueConvertible)? {
        let kind = input.byte()
        if kind < 128 { return usual[column.name] ?? (column.type == "TEXT" ? "show" : Int64(kind & 7)) }
        let extremes: [Int64] = [.max, .min, -1, 0, 1 << 53, 1 << 31, 1 << 62, .max - 1]
        switch kind & 7 {
        case 0, 1: return extremes[Int(kind >> 3) & 7]
        case 2: return input.number()
        case 3: return Double(bitPattern: UInt64(bitPattern: input.number()))
        case 4: return String(buffer: input.bytes(Int(kind >> 3)))
        case 5: return Data(input.bytes(Int(kind >> 3)).readableBytesView)
        case 6: return Double.infinity
        default: return nil
        }
    }
}

extension FuzzTarget {
    /// Rows of the viewership history in any version: loaded, reported and continued.
    static let history = FuzzTarget("history") { input in
        var input = input
        let usual = [
            "room": "show", "protocol": "hls", "client": "web", "reason": "left", "rendition": "", "region": "",
            "excluded": "0 0 0 0 0 0",
        ]
        guard let path = GeneratedDatabase.make(HistoryDatabase.migrations, usual: usual, from: &input),
            let database = try? HistoryDatabase(path: path, lockTimeout: 1)
        else { return }
        defer { database.close() }
        let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
        ledger.enableHistory()
        if let recovered = try? database.load() { ledger.restore(recovered) }
        ledger.roomBegan("show", sid: "RM_1")
        _ = ledger.drainHistory()
        _ = ledger.totals()
        for row in (try? database.broadcasts(room: "show", limit: 3)) ?? [] {
            _ = try? database.sessions(epoch: row.epoch, after: nil, limit: 10)
            let figures = BroadcastFigures(
                broadcast: row,
                sums: (try? database.sums(of: .broadcast(row.epoch))) ?? [],
                now: 1_800_000_000_000
            )
            _ = figures.average(of: figures.whole)
            _ = try? database.settledPeaks(of: .broadcast(row.epoch), retention: .max)
        }
    }

    /// Rows of the webhooks' outbox.
    static let outbox = FuzzTarget("outbox") { input in
        var input = input
        let usual = [
            "id": "WH1", "endpoint": "WH1", "url": "https://a.example/in", "types": "room.created", "state": "pending",
            "secret": "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "outcome": "delivered",
        ]
        guard let path = GeneratedDatabase.make(OutboxDatabase.migrations, usual: usual, from: &input),
            let image = FileManager.default.contents(atPath: path)
        else { return }
        let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
        var store = OutboxStore(path: path, lockTimeout: 1, logger: logger)
        defer { store.close() }
        /// Runs an operation on the generated rows, also after one that had the database replaced.
        func run<Outcome>(_ body: (OutboxStore) throws -> Outcome) -> Outcome? {
            if store.faultCounts.failures > 0 {
                store.close()
                guard (try? image.write(to: URL(fileURLWithPath: path))) != nil else { return nil }
                store = OutboxStore(path: path, lockTimeout: 1, logger: logger)
            }
            return try? body(store)
        }
        _ = run { try $0.head(of: "WH1") }
        _ = run { try $0.deliveries(of: "WH1", before: nil, limit: 10) }
        var scheduler = DeliveryScheduler(schedule: RetrySchedule())
        for endpoint in run({ try $0.endpoints().map(\.endpoint) }) ?? [] {
            scheduler = DeliveryScheduler(schedule: RetrySchedule(), health: endpoint.health)
            _ = scheduler.next(at: 1)
            _ = scheduler.finished(DeliveryOutcome(status: 503, retryAfter: 5), tries: 1, at: 1, chance: 0.5)
            scheduler.dropped(1)
        }
        let message = OutboxMessage(
            id: "m",
            type: "room.created",
            room: "show",
            at: 1,
            data: Data("{}".utf8),
            recipients: ["WH1"],
            mark: nil
        )
        _ = run { try $0.append([message], now: 1) }
    }

    /// Stored rooms as JSON, loaded at the start.
    static let rooms = FuzzTarget("rooms") { input in
        let stored = StoredRoom(sid: "RM1", name: "show", status: "in-progress", updatedAt: 0, record: input.text)
        guard let record = try? stored.decoded() else { return }
        let directory = RoomDirectory(pepper: [1, 2, 3])
        directory.restore([record])
        guard let room = try? directory.room(record.sid) else { return }
        demand(room.settings.program.gopLength > 0, "a program has key pictures")
        _ = directory.record(of: room.sid)
    }
}
