public import Media
public import NIOCore

/// The sockets of many viewers in a compact array, for writing the same bytes to all of them.
///
/// With thousands of viewers, the state of one is no longer in the CPU cache at its next turn, and loading it takes
/// longer than the write. A slot has sixteen bytes and lies next to the previous one, and no other state of a viewer is
/// accessed while its socket accepts all bytes.
///
/// A slot is closed unless it was opened. The owner closes it when `MediaWriter.directSocket` changes, of which the
/// writer's observer is notified. `DirectSocket` states why this is safe beside the channels of the sockets.
///
/// All sockets are of one event loop, on which all calls are made; debug builds check it.
public struct DirectWriteBatch: Sendable {
    private struct Slot: Sendable {
        var descriptor: CInt = -1
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

    private let eventLoop: any EventLoop
    private var slots = ContiguousArray<Slot>()

    /// Creates an empty batch for the sockets of an event loop.
    public init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// The number of slots.
    public var count: Int { slots.count }

    /// Appends a closed slot.
    public mutating func append() {
        eventLoop.assertInEventLoop()
        slots.append(Slot())
    }

    /// Removes a slot and moves the last one to its index.
    public mutating func remove(at index: Int) {
        eventLoop.assertInEventLoop()
        slots.swapAt(index, slots.count - 1)
        slots.removeLast()
    }

    /// Opens a slot: `send` writes to `socket` until `end`, or until it is closed if `end` is nil.
    public mutating func open(_ index: Int, socket: DirectSocket, until end: MonotonicTime?) {
        eventLoop.assertInEventLoop()
        assert(socket.eventLoop === eventLoop, "the socket belongs to another event loop")
        slots[index] = Slot(descriptor: socket.descriptor, end: end?.nanoseconds ?? .max)
    }

    /// Closes a slot: `send` stops at it.
    public mutating func close(_ index: Int) {
        eventLoop.assertInEventLoop()
        slots[index] = Slot()
    }

    /// Sends the bytes to the slots below `index` in descending order; never blocks.
    ///
    /// - Returns: The first slot that is closed or whose socket did not accept all bytes (which closes it); nil if all
    ///   were served.
    public mutating func send(_ bytes: ByteBuffer, below index: Int, now: MonotonicTime) -> Stop? {
        eventLoop.assertInEventLoop()
        let now = now.nanoseconds
        return bytes.withUnsafeReadableBytes { bytes in
            slots.withUnsafeMutableBufferPointer { slots in
                var index = min(index, slots.count)
                while index > 0 {
                    index -= 1
                    guard now < slots[index].end else { return Stop(index: index, sent: 0) }
                    let sent = DirectSocket.send(bytes, on: slots[index].descriptor)
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
}
