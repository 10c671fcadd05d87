public import Media
public import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// The sockets of many viewers in a compact array, for writing the same bytes to all of them.
///
/// With thousands of viewers, the state of one is no longer in the CPU cache at its next turn, and loading it takes
/// longer than the write. A slot has sixteen bytes and lies next to the previous one, and no other state of a viewer is
/// accessed while its socket accepts all bytes.
///
/// A slot is closed unless it was opened. The owner closes it when `MediaWriter.directFileDescriptor` changes, of which
/// the writer's observer is notified.
public struct DirectWriteBatch: Sendable {
    private struct Slot: Sendable {
        var socket: CInt = -1
        /// The time in monotonic nanoseconds from which the slot is skipped.
        var end = Int64.min
    }

    /// The slot at which `send` stopped and which the caller must serve.
    public struct Stop: Equatable, Sendable {
        /// The slot's index.
        public var index: Int
        /// The number of bytes that its socket accepted.
        public var sent: Int
    }

    private var slots = ContiguousArray<Slot>()

    /// Creates an empty batch.
    public init() {}

    /// The number of slots.
    public var count: Int { slots.count }

    /// Appends a closed slot.
    public mutating func append() {
        slots.append(Slot())
    }

    /// Removes a slot and moves the last one to its index.
    public mutating func remove(at index: Int) {
        slots.swapAt(index, slots.count - 1)
        slots.removeLast()
    }

    /// Opens a slot: `send` writes to `socket` until `end`, or until it is closed if `end` is nil.
    public mutating func open(_ index: Int, socket: CInt, until end: MonotonicTime?) {
        slots[index] = Slot(socket: socket, end: end?.nanoseconds ?? .max)
    }

    /// Closes a slot: `send` stops at it.
    public mutating func close(_ index: Int) {
        slots[index] = Slot()
    }

    /// Sends the bytes to the slots below `index` in descending order; never blocks.
    ///
    /// - Returns: The first slot that is closed or whose socket did not accept all bytes (which closes it); nil if all
    ///   were served.
    public mutating func send(_ bytes: ByteBuffer, below index: Int, now: MonotonicTime) -> Stop? {
        let now = now.nanoseconds
        return bytes.withUnsafeReadableBytes { bytes in
            slots.withUnsafeMutableBufferPointer { slots in
                var index = min(index, slots.count)
                while index > 0 {
                    index -= 1
                    guard now < slots[index].end else { return Stop(index: index, sent: 0) }
                    let sent = Self.send(bytes, on: slots[index].socket)
                    guard sent == bytes.count else {
                        slots[index] = Slot()
                        // The channel encounters the same error on its next write and handles it.
                        return Stop(index: index, sent: max(sent, 0))
                    }
                }
                return nil
            }
        }
    }

    /// Sends as many of the buffers as one system call accepts.
    ///
    /// - Returns: The number of bytes the socket accepted; negative on error or if it has no space.
    static func send(_ buffers: ArraySlice<ByteBuffer>, on socket: CInt) -> Int {
        #if canImport(Glibc)
        return withVectors(buffers.prefix(16)) { vectors in
            var vectors = vectors
            return vectors.withUnsafeMutableBufferPointer { vectors in
                var message = msghdr()
                message.msg_iov = vectors.baseAddress
                message.msg_iovlen = vectors.count
                return sendmsg(socket, &message, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
            }
        }
        #else
        return 0
        #endif
    }

    #if canImport(Glibc)
    /// Calls `body` with the memory of the buffers.
    private static func withVectors(
        _ buffers: ArraySlice<ByteBuffer>,
        _ vectors: [iovec] = [],
        _ body: ([iovec]) -> Int
    ) -> Int {
        guard let first = buffers.first else { return vectors.isEmpty ? 0 : body(vectors) }
        return first.withUnsafeReadableBytes { bytes in
            let vector = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            return withVectors(buffers.dropFirst(), vectors + [vector], body)
        }
    }
    #endif

    /// - Returns: The number of bytes the socket accepted; negative on error or if it has no space.
    static func send(_ bytes: UnsafeRawBufferPointer, on socket: CInt) -> Int {
        #if canImport(Glibc)
        return Glibc.send(socket, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
        #else
        return 0
        #endif
    }
}
