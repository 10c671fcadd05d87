import Dispatch
import Foundation
import Media
import NIOCore
import Stage
import Synchronization

/// Takes down what arrives at a mixer, and when, so that the program can be made again exactly; see `ArrivalReplay`.
///
/// Whoever delivers a packet writes it into memory here and goes on; a thread of the recorder's own writes the file. A
/// disk that is full or too slow, or a file that has become too large, ends the recording and nothing else. To be closed
/// by whoever made it.
public final class ArrivalRecorder: Sendable {
    /// Why nothing is taken down any more.
    public enum End: Sendable, Equatable {
        /// `close` was called.
        case closed
        /// The file reached its largest size.
        case full
        /// The disk was slower than what arrived.
        case behind
        /// The file could not be written; the system's error number.
        case failed(Int32)
    }

    fileprivate struct State: Sendable {
        /// What waits for the disk before `pending`: among it files as they came, not copied.
        var blocks: [ByteBuffer] = []
        var blockBytes = 0
        var pending = ByteBuffer()
        var written = 0
        var inputs = 0
        var files = 0
        var steps: Int64 = 0
        var lastArrival: Int64 = 0
        var lastTimestamps: [Int64] = []
        var hasBegun = false
        var end: End?
    }

    /// Bytes that wait for the disk at most: all files that a program keeps may come at once.
    private static let mostPending = AssetShelf.limits.bytes + 32 << 20

    private let file: ArrivalFile
    private let largestSize: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let writer = Mutex<WorkerThread?>(nil)

    /// Makes the file; what was there is overwritten.
    ///
    /// - Parameter largestSize: Bytes after which the recording ends.
    /// - Throws: `ArrivalError` when the file cannot be made.
    public init(path: String, largestSize: Int = 1 << 30) throws(ArrivalError) {
        file = try ArrivalFile(path: path)
        self.largestSize = largestSize
        let thread = WorkerThread(name: "recorder") { [self] in writeAll() }
        writer.withLock { $0 = thread }
    }

    /// Why the recording ended; nil while it goes on.
    public var end: End? { state.withLock { $0.end } }

    /// Ends the recording; returns when all of it is in the file.
    public func close() {
        state.withLock { $0.finish(.closed) }
        wake.signal()
        writer.withLock { $0 }?.join()
    }

    /// The program begins; the first call counts.
    func begin(_ configuration: ProgramConfiguration, firstSample: Int64) {
        append { state in
            guard !state.hasBegun else { return }
            state.hasBegun = true
            state.pending.writeBytes(ArrivalHead.mark)
            state.pending.writeInteger(ArrivalHead.version)
            state.pending.writeJSON(ArrivalHead(configuration: configuration, firstSample: firstSample))
        }
    }

    /// A host's input comes into being; returns its number.
    func addHost(_ id: String, jitterTarget: Int, mayStandStill: Bool = false) -> Int {
        append { state in
            state.pending.writeInteger(ArrivalHead.Entry.input.rawValue)
            state.pending.writeBlock(id.utf8)
            state.pending.writeCount(UInt64(max(jitterTarget, 0)))
            state.pending.writeInteger(UInt8(mayStandStill ? 1 : 0))
            state.lastTimestamps.append(0)
            state.inputs += 1
            return state.inputs - 1
        } ?? 0
    }

    /// A file comes that scenes may name; returns its number.
    func addFile(_ name: String, _ bytes: ByteBuffer) -> Int {
        append(bytes) { state in
            state.pending.writeInteger(ArrivalHead.Entry.file.rawValue)
            state.pending.writeBlock(name.utf8)
            state.pending.writeCount(UInt64(bytes.readableBytes))
            state.files += 1
            return state.files - 1
        } ?? 0
    }

    /// The program has made so many steps.
    func reached(_ steps: Int64) {
        state.withLock { $0.steps = max($0.steps, steps) }
    }

    /// - Parameters:
    ///   - input: The number that `addHost` gave.
    ///   - arrival: Nanoseconds since the program began.
    func record(_ packet: MediaPacket, from input: Int, arrival: Int64) {
        guard let content = ArrivalContent(packet.content) else { return }
        append { state in
            guard state.lastTimestamps.indices.contains(input) else { return }
            state.pending.writeInteger(ArrivalHead.Entry.packet.rawValue)
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

    /// - Parameter step: How many steps the program has made.
    func record(_ change: ArrivalChange, step: Int64) {
        append { state in
            state.pending.writeInteger(ArrivalHead.Entry.change.rawValue)
            state.pending.writeCount(UInt64(max(step, 0)))
            state.pending.writeJSON(change)
        }
    }

    /// - Parameter file: Follows what `write` writes.
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
            } else if waiting > Self.mostPending {
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

    /// The recorder's own thread.
    private func writeAll() {
        while true {
            wake.wait()
            while true {
                let (blocks, isLast) = state.withLock { ($0.takeAll(), $0.end != nil) }
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
    /// Bytes that wait for the disk.
    fileprivate var waiting: Int { blockBytes + pending.readableBytes }

    fileprivate mutating func append(_ file: ByteBuffer) {
        blocks += [pending, file]
        blockBytes += pending.readableBytes + file.readableBytes
        pending = ByteBuffer()
    }

    /// All that waits, which is the disk's from now on.
    fileprivate mutating func takeAll() -> [ByteBuffer] {
        guard waiting > 0 else { return [] }
        defer { (blocks, blockBytes, pending) = ([], 0, ByteBuffer()) }
        written += waiting
        return blocks + [pending]
    }

    /// Takes back what was written last.
    fileprivate mutating func cut(to size: Int) {
        pending.moveWriterIndex(to: pending.readerIndex + size)
    }

    fileprivate mutating func finish(_ reason: ArrivalRecorder.End) {
        guard end == nil else { return }
        end = reason
        pending.writeInteger(ArrivalHead.Entry.end.rawValue)
        pending.writeInteger(UInt8(reason == .closed ? 0 : 1))
        pending.writeCount(UInt64(max(steps, 0)))
    }
}

extension ByteBuffer {
    /// Writes a value that always has a JSON form; without one the block is empty, and a reader stops at it.
    fileprivate mutating func writeJSON(_ value: some Encodable) {
        do {
            writeBlock(try JSONEncoder().encode(value))
        } catch {
            writeCount(0)
        }
    }
}
