import Foundation
import Glibc
import Synchronization

/// Viewers who do not take what they asked for.
final class SlowViewers: Sendable {
    /// In which way.
    enum Kind: String, CaseIterable {
        /// Reads nothing at all.
        case neverReading = "never reading"
        /// Reads a byte at a time, ten a second.
        case oneByte = "a byte at a time"
        /// Vanished: nothing that is sent to it arrives, and nobody says so.
        case halfOpen = "half open"
    }

    /// Bytes that the system takes in for one of them.
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
            try ViewerSocket.ask(server.dialogue, on: socket)
            return socket
        }
        Thread.detachNewThread {
            self.run()
            self.hasEnded.signal()
        }
    }

    /// Lets all leave; called once.
    func leave() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
        for socket in sockets { close(socket) }
    }

    private func run() {
        if kind == .halfOpen {
            // Long enough for the stream to have begun.
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

    /// Every packet to the socket is dropped from now on, before TCP sees it.
    private static func vanish(_ socket: Int32) {
        // BPF_RET | BPF_K with nothing: no byte of any packet is let through.
        var step = FilterStep(code: 0x06, value: 0)
        withUnsafeMutablePointer(to: &step) { step in
            var filter = Filter(length: 1, steps: step)
            setsockopt(socket, SOL_SOCKET, attachFilter, &filter, socklen_t(MemoryLayout<Filter>.size))
        }
    }
}
