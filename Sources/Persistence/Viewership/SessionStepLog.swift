import Foundation
import Glibc
import Logging
import Stage
import Viewership

/// A file of fixed size with the latest session steps, and the time until which the process is known to have lived.
///
/// After a kill the file holds what was last written, since the system has it. A header of 16 bytes holds the time and
/// a checksum; behind it is a ring of steps, 112 bytes each, little-endian. An entry that was written in part fails its
/// checksum and is skipped. Names of renditions and regions over 24 bytes are omitted. Used on one queue.
struct SessionStepLog {
    /// The number of entries: more than some seconds produce, or the minutes in which the history cannot be written.
    static let capacity = 65_536
    private static let headerLength = 16
    static let entryLength = (entryWords + 1) * 8
    /// Words of an entry without its checksum.
    private static let entryWords = 13
    /// Words of a name.
    private static let nameWords = 3

    private let file: Int32
    private var next = 0

    /// Opens or creates the file; nil when that fails.
    init?(path: String) {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
    }

    func close() { _ = Glibc.close(file) }

    /// Writes the steps, and that the process lives until `moment`, milliseconds since 1970.
    ///
    /// - Returns: Whether everything was written.
    mutating func write(aliveUntil moment: Int64, _ steps: [SessionStep]) -> Bool {
        var isWritten = true
        var rest = steps.suffix(Self.capacity)
        while !rest.isEmpty {
            // One write up to the end of the ring, the rest from its start.
            let run = rest.prefix(Self.capacity - next)
            isWritten =
                put(run.map { Self.words(of: $0) }, at: Self.headerLength + next * Self.entryLength) && isWritten
            next = (next + run.count) % Self.capacity
            rest = rest.dropFirst(run.count)
        }
        // Written last, so that the header never covers a step that is missing.
        return put([[UInt64(bitPattern: moment)]], at: 0) && isWritten
    }

    /// Reads the time until which an earlier process lived, and the steps from `moment` on; nil when there is none.
    static func read(path: String, from moment: Int64) -> (livedUntil: Int64, steps: [SessionStep])? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let bytes = [UInt8](data.prefix(headerLength + capacity * entryLength))
        guard let header = words(in: bytes, at: 0, count: 1) else { return nil }
        let livedUntil = Int64(bitPattern: header[0])
        guard livedUntil > 0 else { return nil }
        var steps: [SessionStep] = []
        for offset in stride(from: headerLength, through: bytes.count - entryLength, by: entryLength) {
            guard let words = words(in: bytes, at: offset, count: entryWords),
                let step = Self.step(words)
            else { continue }
            if step.at >= moment { steps.append(step) }
        }
        return (livedUntil, steps.sorted { ($0.at, $0.kind.rawValue) < ($1.at, $1.kind.rawValue) })
    }

    private func put(_ entries: [[UInt64]], at offset: Int) -> Bool {
        let all = entries.flatMap { $0 + [Self.check($0)] }
        return all.map(\.littleEndian).withUnsafeBytes { bytes in
            pwrite(file, bytes.baseAddress, bytes.count, off_t(offset)) == bytes.count
        }
    }

    private static func words(in bytes: [UInt8], at offset: Int, count: Int) -> [UInt64]? {
        guard offset + (count + 1) * 8 <= bytes.count else { return nil }
        let all = (0...count).map { index in
            (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + index * 8 + $1]) << (UInt64($1) * 8) }
        }
        let words = Array(all.dropLast())
        return all.last == check(words) ? words : nil
    }

    /// FNV-1a over the words; never 0 for words that are all 0, so that a hole in the file is no valid entry.
    private static func check(_ words: [UInt64]) -> UInt64 {
        words.reduce(14_695_981_039_346_656_037) { ($0 ^ $1) &* 1_099_511_628_211 }
    }

    private static func words(of step: SessionStep) -> [UInt64] {
        let playback = PlaybackProtocol.allCases.firstIndex(of: step.dimensions.playback) ?? 0
        let client = ClientClass.allCases.firstIndex(of: step.dimensions.client) ?? 0
        let flags = [step.viewer != nil, step.isUser, step.estimate != nil, step.isLogged]
        let marks = flags.enumerated().reduce(UInt64(0)) { $0 | ($1.element ? 1 << UInt64($1.offset) : 0) }
        return [
            step.code, UInt64(bitPattern: step.epoch), UInt64(bitPattern: step.start),
            UInt64(bitPattern: step.at),
            UInt64(step.kind.rawValue) | UInt64(step.shard) << 8 | UInt64(playback) << 16 | UInt64(client) << 24
                | marks << 32,
            step.viewer ?? 0, step.estimate ?? 0,
        ] + words(of: step.dimensions.rendition) + words(of: step.dimensions.region)
    }

    private static func step(_ words: [UInt64]) -> SessionStep? {
        let (playback, client) = (Int(words[4] >> 16 & 0xFF), Int(words[4] >> 24 & 0xFF))
        guard let kind = SessionStep.Kind(rawValue: UInt8(words[4] & 0xFF)),
            PlaybackProtocol.allCases.indices.contains(playback), ClientClass.allCases.indices.contains(client)
        else { return nil }
        let maximum: Int64 = 1 << 50
        let (start, at) = (Int64(bitPattern: words[2]), Int64(bitPattern: words[3]))
        guard (0...maximum).contains(start), (start...maximum).contains(at) else { return nil }
        func isMarked(_ flag: UInt64) -> Bool { words[4] >> (32 + flag) & 1 == 1 }
        return SessionStep(
            kind: kind,
            code: words[0],
            shard: UInt8(words[4] >> 8 & 0xFF),
            epoch: Int64(bitPattern: words[1]),
            dimensions: Dimensions(
                playback: PlaybackProtocol.allCases[playback],
                rendition: name(words[7..<7 + nameWords]),
                region: name(words[(7 + nameWords)...]),
                client: ClientClass.allCases[client]
            ),
            viewer: isMarked(0) ? words[5] : nil,
            isUser: isMarked(1),
            estimate: isMarked(2) ? words[6] : nil,
            isLogged: isMarked(3),
            start: start,
            at: at
        )
    }

    private static func words(of name: String) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: nameWords)
        guard name.utf8.count <= nameWords * 8 else { return words }
        for (index, byte) in name.utf8.enumerated() { words[index / 8] |= UInt64(byte) << (UInt64(index % 8) * 8) }
        return words
    }

    private static func name(_ words: ArraySlice<UInt64>) -> String {
        let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (UInt64($0) * 8)) } }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// Writes session steps to their log.
///
/// A log that cannot be opened or written is retried each second; steps in between are dropped.
struct SessionStepWriter {
    /// Writes between two attempts to open the log.
    private static let writesPerAttempt = 20

    private let path: String
    private let logger: Logger
    private var log: SessionStepLog?
    /// Whether `close()` was called; later writes are ignored.
    private(set) var isClosed = false
    private var attempts = 0
    private var hasFailed = false

    init(path: String, logger: Logger) {
        self.path = path
        self.logger = logger
    }

    /// - Returns: Whether the steps were written.
    mutating func write(aliveUntil moment: Int64, _ steps: [SessionStep]) -> Bool {
        guard !isClosed else { return false }
        if log == nil {
            defer { attempts += 1 }
            guard attempts % Self.writesPerAttempt == 0 else { return false }
            log = SessionStepLog(path: path)
        }
        guard log?.write(aliveUntil: moment, steps) == true else {
            log?.close()
            log = nil
            attempts = 1
            logChange(hasFailed: true)
            return false
        }
        logChange(hasFailed: false)
        return true
    }

    /// Marks the log as ended in an orderly way, so that the next run restores nothing from it.
    mutating func close() {
        isClosed = true
        _ = log?.write(aliveUntil: 0, [])
        log?.close()
        log = nil
    }

    private mutating func logChange(hasFailed: Bool) {
        guard hasFailed != self.hasFailed else { return }
        self.hasFailed = hasFailed
        logger.log(
            level: hasFailed ? .warning : .notice,
            hasFailed
                ? "session steps cannot be written; a kill would lose the latest ones"
                : "session steps are written again",
            metadata: ["file": "\(path)"]
        )
    }
}
