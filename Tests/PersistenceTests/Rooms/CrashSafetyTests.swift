import Foundation
import Logging
import Stage
import TestSupport
import Testing

@testable import Persistence

#if canImport(Glibc)
import Glibc
#endif

@Suite("Crash safety of the room store", .enabled(if: TestRun.isFull), .timeLimit(.minutes(2)))
struct CrashSafetyTests {
    @Test("F39 kill -9 at any time leaves complete records, and loses nothing that was flushed", arguments: 0..<6)
    func killed(run: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        // Each run is killed at another time, a few while the database is being created.
        let milliseconds = 15 + run * run * 70 + Int.random(in: 0..<70)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, milliseconds = milliseconds as Int] in
            let killer = Thread {
                usleep(UInt32(milliseconds) * 1000)
                kill(getpid(), SIGKILL)
            }
            killer.start()
            try await WritingGateway(folder: path).writeForever()
        }

        let store = WritingGateway(folder: path).store
        let records = store.load()
        #expect(store.status.quarantinedDatabases == 0)
        #expect(try folder.names().contains { $0.contains(".damaged-") } == false)
        let names = Set(records.map(\.settings.name))
        let confirmations = try WritingGateway.confirmed(in: path)
        // The last run has time for at least one confirmation.
        if run == 5 { #expect(!confirmations.isEmpty) }
        for line in confirmations {
            let (name, confirmedStep) = (String(line[0]), Int(line[1]) ?? 0)
            #expect(names.contains(name))
            let record = records.first { $0.settings.name == name }
            let stored = record?.participants.first.flatMap { Int($0.displayName) } ?? -1
            #expect(stored >= confirmedStep, "\(name) was promised at \(confirmedStep) and is at \(stored)")
        }
    }
}

/// A room directory and its store that write without end, and record what was flushed.
private struct WritingGateway: Sendable {
    let folder: String
    let directory: RoomDirectory
    let store: RoomStore

    init(folder: String) {
        self.folder = folder
        directory = RoomDirectory(pepper: [7])
        store = RoomStore(
            RoomStoreConfiguration(writeDelay: 0.001),
            path: folder + "/rooms.sqlite",
            source: directory,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    func writeForever() async throws {
        let journal = folder + "/promised"
        try Data().write(to: URL(fileURLWithPath: journal))
        let file = FileHandle(forWritingAtPath: journal)
        let observation = directory.observe { [store] in store.markChanged(room: $0.roomSID) }
        defer { observation.cancel() }
        for number in 0..<20 {
            _ = try directory.create(RoomSettings(name: "show\(number)"))
            _ = try directory.join(room: "show\(number)", JoinRequest(identity: "ann", mode: .sendAndReceive))
        }
        for step in 0..<1_000_000 {
            let name = "show\(step % 20)"
            _ = try directory.updateParticipant(room: name, participant: "ann", displayName: "\(step)")
            // Mostly without a pause, so that the kill interrupts a write.
            guard step % 7 == 0, await store.flush(within: 10) else { continue }
            try file?.write(contentsOf: Data("\(name) \(step)\n".utf8))
        }
    }

    static func confirmed(in folder: String) throws -> [[Substring]] {
        guard let journal = try? String(contentsOfFile: folder + "/promised", encoding: .utf8) else { return [] }
        // The kill may have truncated the last line.
        return journal.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            $0.split(separator: " ")
        }
    }
}
