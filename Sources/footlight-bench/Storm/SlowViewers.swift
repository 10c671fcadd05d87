import Foundation
import Glibc
import Synchronization

/// Viewers that do not read what they requested.
final class SlowViewers: Sendable {
    /// The behaviour of a slow viewer.
    enum Kind: String, CaseIterable {
        /// Reads nothing at all.
        case neverReading = "never reading"
        /// Reads one byte at a time, ten per second.
        case oneByte = "a byte at a time"
        /// Vanished without closing: packets to the viewer are dropped.
        case halfOpen = "half open"
    }

    /// The size of the receive buffer in bytes.
    private static let buffer: Int32 = 4096
    /// SO_ATTACH_FILTER of socket(7).
    private static let attachFilter: Int32 = 26

    private let sockets: [Int32]
    private let kind: Kind
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ kind: Kind, count: Int, at server: MediaServer) throws {
        self.kind = kind
        sockets = try (0..<count).map { _ in
            let socket = try ViewerSocket.connect(port: server.viewerPort, receiveBuffer: Self.buffer)
            try ViewerSocket.requestStream(server.dialogue, on: socket)
            return socket
        }
        Thread.detachNewThread {
            self.run()
            self.hasEnded.signal()
        }
    }

    /// Disconnects all viewers; called once.
    func leave() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
        for socket in sockets { close(socket) }
    }

    private func run() {
        if kind == .halfOpen {
            // Long enough for the stream to have started.
            Thread.sleep(forTimeInterval: 0.5)
            for socket in sockets { Self.vanish(socket) }
        }
        var byte: UInt8 = 0
        while !isStopped.load(ordering: .relaxed) {
            if kind == .oneByte { for socket in sockets { recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) } }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    private struct FilterStep {
        var code: UInt16
        var jumpIfTrue: UInt8 = 0
        var jumpIfFalse: UInt8 = 0
        var value: UInt32
    }

    private struct Filter {
        var length: UInt16
        var steps: UnsafeMutablePointer<FilterStep>
    }

    /// Drops every further packet to the socket before TCP sees it.
    private static func vanish(_ socket: Int32) {
        // BPF_RET | BPF_K with 0: no byte of any packet passes.
        var step = FilterStep(code: 0x06, value: 0)
        withUnsafeMutablePointer(to: &step) { step in
            var filter = Filter(length: 1, steps: step)
            setsockopt(socket, SOL_SOCKET, attachFilter, &filter, socklen_t(MemoryLayout<Filter>.size))
        }
    }
}
