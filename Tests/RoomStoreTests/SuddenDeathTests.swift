import FootlightTesting
import Foundation
import Logging
import Stage
import Testing

@testable import RoomStore

#if canImport(Glibc)
import Glibc
#endif

@Suite("A gateway that is killed", .timeLimit(.minutes(2)))
struct SuddenDeathTests {
    @Test("F39 kill -9 at any moment leaves whole records, and nothing is lost that was waited for", arguments: 0..<6)
    func killed(run: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        // Each run is killed at another moment, a few while the database is still being made.
        let milliseconds = 15 + run * run * 70 + Int.random(in: 0..<70)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, milliseconds = milliseconds as Int] in
            let killer = Thread {
                usleep(UInt32(milliseconds) * 1000)
                kill(getpid(), SIGKILL)
            }
            killer.start()
            try await Show(folder: path).goOn()
        }

        let keeper = Show(folder: path).keeper
        let records = keeper.load()
        #expect(keeper.status.damagedDatabases == 0)
        #expect(try folder.names().contains { $0.contains(".damaged-") } == false)
        let names = Set(records.map(\.settings.name))
        let promises = try Show.confirmed(in: path)
        // The last run had time enough to be promised something.
        if run == 5 { #expect(!promises.isEmpty) }
        for line in promises {
            let (name, promised) = (String(line[0]), Int(line[1]) ?? 0)
            #expect(names.contains(name))
            let record = records.first { $0.settings.name == name }
            let stored = record?.participants.first.flatMap { Int($0.displayName) } ?? -1
            #expect(stored >= promised, "\(name) was promised at \(promised) and is at \(stored)")
        }
    }
}

/// A gateway's stage and keeper that write without end, and note down what they were promised.
private struct Show: Sendable {
    let folder: String
    let directory: RoomDirectory
    let keeper: RoomKeeper

    init(folder: String) {
        self.folder = folder
        directory = RoomDirectory(pepper: [7])
        keeper = RoomKeeper(
            RoomStoreConfiguration(path: folder + "/rooms.sqlite", gathering: 0.001),
            source: directory,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    func goOn() async throws {
        let notes = folder + "/promised"
        try Data().write(to: URL(fileURLWithPath: notes))
        let file = FileHandle(forWritingAtPath: notes)
        let observation = directory.observe { [keeper] in keeper.changed(room: $0.roomSID) }
        defer { observation.cancel() }
        for number in 0..<20 {
            _ = try directory.create(RoomSettings(name: "show\(number)"))
            _ = try directory.join(room: "show\(number)", JoinRequest(identity: "ann", mode: .sendAndReceive))
        }
        for step in 0..<1_000_000 {
            let name = "show\(step % 20)"
            _ = try directory.describe(room: name, participant: "ann", displayName: "\(step)")
            // Most of the time without a pause, so that the kill comes in the middle of things.
            guard step % 7 == 0, await keeper.flush(within: 10) else { continue }
            try file?.write(contentsOf: Data("\(name) \(step)\n".utf8))
        }
    }

    static func confirmed(in folder: String) throws -> [[Substring]] {
        guard let notes = try? String(contentsOfFile: folder + "/promised", encoding: .utf8) else { return [] }
        // The last line may have been cut by the kill.
        return notes.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            $0.split(separator: " ")
        }
    }
}
