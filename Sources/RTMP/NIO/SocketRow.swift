public import Media
public import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// The sockets of a crowd side by side, for bytes that are the same for all of them.
///
/// With thousands of viewers nothing of one is still in the processor's cache when its turn comes again, and looking at
/// a viewer's objects takes longer than all that is done with them. Here a viewer is sixteen bytes next to the last one's,
/// and nothing else of it is touched as long as its socket takes what it is given.
///
/// A place is closed unless somebody opened it. Whoever opens one closes it as soon as `MediaWriter.straightSocket` is
/// no longer that socket, of which `MediaWriter.watcher` is told.
public struct SocketRow: Sendable {
    private struct Place: Sendable {
        var socket: CInt = -1
        /// From this moment on (monotonic nanoseconds) the place is passed over.
        var end = Int64.min
    }

    /// Why `send` stopped: the place at `index` is its caller's to serve.
    public struct Stop: Equatable, Sendable {
        /// The place's number.
        public var index: Int
        /// Bytes that its socket took already.
        public var sent: Int
    }

    private var places = ContiguousArray<Place>()

    /// A row without places.
    public init() {}

    /// The number of places.
    public var count: Int { places.count }

    /// Adds a closed place at the end.
    public mutating func append() {
        places.append(Place())
    }

    /// Takes a place away and puts the last one there.
    public mutating func remove(at index: Int) {
        places.swapAt(index, places.count - 1)
        places.removeLast()
    }

    /// From now on `send` writes to `socket`, until `end` (nil: until it is closed).
    public mutating func open(_ index: Int, socket: CInt, until end: MonotonicTime?) {
        places[index] = Place(socket: socket, end: end?.nanoseconds ?? .max)
    }

    /// `send` stops at this place from now on.
    public mutating func close(_ index: Int) {
        places[index] = Place()
    }

    /// Sends the bytes to the places below `index`, the highest first; never waits.
    ///
    /// - Returns: The first place that is closed, or whose socket did not take everything (it is closed by that); nil
    ///   when all were served.
    public mutating func send(_ bytes: ByteBuffer, below index: Int, now: MonotonicTime) -> Stop? {
        let now = now.nanoseconds
        return bytes.withUnsafeReadableBytes { bytes in
            places.withUnsafeMutableBufferPointer { places in
                var index = min(index, places.count)
                while index > 0 {
                    index -= 1
                    guard now < places[index].end else { return Stop(index: index, sent: 0) }
                    let sent = Self.send(bytes, on: places[index].socket)
                    guard sent == bytes.count else {
                        places[index] = Place()
                        // Whatever is wrong, the channel will meet it again and knows what to do.
                        return Stop(index: index, sent: max(sent, 0))
                    }
                }
                return nil
            }
        }
    }

    /// Sends as many of the buffers as go into one call.
    ///
    /// - Returns: How many bytes the socket took, below 0 when it has a fault or no room.
    static func send(_ buffers: ArraySlice<ByteBuffer>, on socket: CInt) -> Int {
        #if canImport(Glibc)
        return gather(buffers.prefix(16)) { pieces in
            var pieces = pieces
            return pieces.withUnsafeMutableBufferPointer { pieces in
                var message = msghdr()
                message.msg_iov = pieces.baseAddress
                message.msg_iovlen = pieces.count
                return sendmsg(socket, &message, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
            }
        }
        #else
        return 0
        #endif
    }

    #if canImport(Glibc)
    /// Calls `body` with where the buffers lie.
    private static func gather(
        _ buffers: ArraySlice<ByteBuffer>,
        _ pieces: [iovec] = [],
        _ body: ([iovec]) -> Int
    ) -> Int {
        guard let first = buffers.first else { return pieces.isEmpty ? 0 : body(pieces) }
        return first.withUnsafeReadableBytes { bytes in
            let piece = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            return gather(buffers.dropFirst(), pieces + [piece], body)
        }
    }
    #endif

    /// - Returns: How many bytes the socket took, below 0 when it has a fault or no room.
    static func send(_ bytes: UnsafeRawBufferPointer, on socket: CInt) -> Int {
        #if canImport(Glibc)
        return Glibc.send(socket, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
        #else
        return 0
        #endif
    }
}
