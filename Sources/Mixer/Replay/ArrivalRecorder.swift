import Dispatch
import Foundation
import Media
import NIOCore
import Stage
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Records what arrives at a mixer, and when, so that the program can be rendered again exactly; see `ArrivalReplay`.
///
/// The thread that delivers a packet only copies it into memory; the recorder's own thread writes the file. A disk that
/// is full or too slow, or a file that has become too large, ends the recording and nothing else. Its creator must
/// close it.
public final class ArrivalRecorder: Sendable {
    /// The reason why a recording ended.
    public enum End: Sendable, Equatable {
        /// `close` was called.
        case closed
        /// The file reached its maximum size.
        case full
        /// The disk was slower than the arrivals.
        case behind
        /// The file could not be written; the system's error number.
        case failed(Int32)
    }

    fileprivate struct State: Sendable {
        /// The bytes to be written before `pending`: among them provided files, not copied.
        var blocks: [ByteBuffer] = []
        var blockBytes = 0
        var pending = ByteBuffer()
        var written = 0
        var inputs = 0
        var files = 0
        var steps: Int64 = 0
        var lastArrival: Int64 = 0
        var lastTimestamps: [Int64] = []
        var hasStarted = false
        var end: End?
    }

    /// The maximum number of bytes that wait for the disk: all files that a program holds may come at once.
    private static let maximumPending = AssetCache.limits.bytes + 32 << 20

    private let file: ArrivalFile
    private let largestSize: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let writer = Mutex<WorkerThread?>(nil)

    /// Creates the file; an existing one is overwritten.
    ///
    /// - Parameter largestSize: Bytes after which the recording ends.
    /// - Throws: `ArrivalError` when the file cannot be created.
    public init(path: String, largestSize: Int = 1 << 30) throws(ArrivalError) {
        file = try ArrivalFile(path: path)
        self.largestSize = largestSize
        let thread = WorkerThread(name: "recorder") { [self] in writeAll() }
        writer.withLock { $0 = thread }
    }

    /// The reason why the recording ended; nil while it continues.
    public var end: End? { state.withLock { $0.end } }

    /// Ends the recording; returns when all of it is in the file.
    public func close() {
        state.withLock { $0.finish(.closed) }
        wake.signal()
        writer.withLock { $0 }?.join()
    }

    /// Records the beginning of the program; only the first call counts.
    func begin(_ configuration: ProgramConfiguration, firstSample: Int64) {
        append { state in
            guard !state.hasStarted else { return }
            state.hasStarted = true
            state.pending.writeBytes(ArrivalHeader.mark)
            state.pending.writeInteger(ArrivalHeader.version)
            state.pending.writeJSON(ArrivalHeader(configuration: configuration, firstSample: firstSample))
        }
    }

    /// Records a new input and returns its number.
    func addHost(_ id: String, jitterTarget: Int, isScreenShare: Bool = false) -> Int {
        append { state in
            state.pending.writeInteger(ArrivalHeader.Entry.input.rawValue)
            state.pending.writeBlock(id.utf8)
            state.pending.writeCount(UInt64(max(jitterTarget, 0)))
            state.pending.writeInteger(UInt8(isScreenShare ? 1 : 0))
            state.lastTimestamps.append(0)
            state.inputs += 1
            return state.inputs - 1
        } ?? 0
    }

    /// Records a file that scenes reference and returns its number.
    func addFile(_ name: String, _ bytes: ByteBuffer) -> Int {
        append(bytes) { state in
            state.pending.writeInteger(ArrivalHeader.Entry.file.rawValue)
            state.pending.writeBlock(name.utf8)
            state.pending.writeCount(UInt64(bytes.readableBytes))
            state.files += 1
            return state.files - 1
        } ?? 0
    }

    /// Records the program's step count.
    func reached(_ steps: Int64) {
        state.withLock { $0.steps = max($0.steps, steps) }
    }

    /// - Parameters:
    ///   - input: The number that `addHost` returned.
    ///   - arrival: Nanoseconds since the program began.
    func record(_ packet: MediaPacket, from input: Int, arrival: Int64) {
        guard let content = ArrivalContent(packet.content) else { return }
        append { state in
            guard state.lastTimestamps.indices.contains(input) else { return }
            state.pending.writeInteger(ArrivalHeader.Entry.packet.rawValue)
            state.pending.writeCount(UInt64(input))
            state.pending.writeSigned(arrival &- state.lastArrival)
            state.pending.writeInteger(content.rawValue)
            state.pending.writeSigned(packet.timestamp &- state.lastTimestamps[input])
            state.pending.writeSigned(Int64(packet.compositionOffset))
            state.pending.writeCount(UInt64(max(packet.headerLength, 0)))
            state.pending.writeBlock(packet.body.readableBytesView)
            state.lastArrival = arrival
            state.lastTimestamps[input] = packet.timestamp
        }
    }

    /// - Parameter step: The program's step count.
    func record(_ change: ArrivalChange, step: Int64) {
        append { state in
            state.pending.writeInteger(ArrivalHeader.Entry.change.rawValue)
            state.pending.writeCount(UInt64(max(step, 0)))
            state.pending.writeJSON(change)
        }
    }

    /// - Parameter file: Follows the bytes that `write` appends.
    @discardableResult
    private func append<Result: Sendable>(_ file: ByteBuffer? = nil, _ write: (inout State) -> Result) -> Result? {
        let (result, isFirst) = state.withLock { state -> (Result?, Bool) in
            guard state.end == nil else { return (nil, false) }
            let (before, isFirst) = (state.pending.readableBytes, state.waiting == 0)
            let result = write(&state)
            let waiting = state.waiting + (file?.readableBytes ?? 0)
            if state.written + waiting > largestSize {
                state.cut(to: before)
                state.finish(.full)
            } else if waiting > Self.maximumPending {
                state.cut(to: before)
                state.finish(.behind)
            } else if let file {
                state.append(file)
            }
            return (result, isFirst)
        }
        if isFirst { wake.signal() }
        return result
    }

    /// Writes pending bytes on the recorder's own thread.
    private func writeAll() {
        while true {
            wake.wait()
            while true {
                let (blocks, isLast) = state.withLock { ($0.removeAllPending(), $0.end != nil) }
                for block in blocks {
                    if let failure = file.append(block) { return state.withLock { $0.end = .failed(failure) } }
                }
                if isLast { return }
                if blocks.isEmpty { break }
            }
        }
    }
}

extension ArrivalRecorder.State {
    /// The number of bytes that wait for the disk.
    fileprivate var waiting: Int { blockBytes + pending.readableBytes }

    fileprivate mutating func append(_ file: ByteBuffer) {
        blocks += [pending, file]
        blockBytes += pending.readableBytes + file.readableBytes
        pending = ByteBuffer()
    }

    /// Removes and returns all pending bytes, to be written to the disk.
    fileprivate mutating func removeAllPending() -> [ByteBuffer] {
        guard waiting > 0 else { return [] }
        defer { (blocks, blockBytes, pending) = ([], 0, ByteBuffer()) }
        written += waiting
        return blocks + [pending]
    }

    /// Removes the bytes that were appended last.
    fileprivate mutating func cut(to size: Int) {
        pending.moveWriterIndex(to: pending.readerIndex + size)
    }

    fileprivate mutating func finish(_ reason: ArrivalRecorder.End) {
        guard end == nil else { return }
        end = reason
        pending.writeInteger(ArrivalHeader.Entry.end.rawValue)
        pending.writeInteger(UInt8(reason == .closed ? 0 : 1))
        pending.writeCount(UInt64(max(steps, 0)))
    }
}

extension ByteBuffer {
    /// Appends a value as JSON; one that cannot be encoded becomes an empty block, at which a reader stops.
    fileprivate mutating func writeJSON(_ value: some Encodable) {
        do {
            writeBlock(try JSONEncoder().encode(value))
        } catch {
            writeCount(0)
        }
    }
}

/// The open file of a recording; closed when the value is destroyed.
struct ArrivalFile: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Creates the file; an existing one is overwritten.
    ///
    /// - Throws: `ArrivalError` when it cannot be created.
    init(path: String) throws(ArrivalError) {
        // Recorded media is private: readable by the owner only.
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ArrivalError("\(path) cannot be written: error \(errno)") }
    }

    deinit { _ = close(descriptor) }

    /// Appends all of `bytes`; returns the system's error number on failure.
    func append(_ bytes: ByteBuffer) -> Int32? {
        bytes.withUnsafeReadableBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return errno }
                done += count
            }
            return nil
        }
    }
}
