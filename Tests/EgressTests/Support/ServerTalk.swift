import Foundation
import Glibc

/// The server's side of a publish, written out.
struct ServerTalk {
    let socket: Int32
    let isEnded: @Sendable () -> Bool
    /// All that has come, or what has come since something was waited for.
    private(set) var heard: [UInt8] = []

    init(socket: Int32, isEnded: @escaping @Sendable () -> Bool) {
        self.socket = socket
        self.isEnded = isEnded
    }

    static func bigEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// From the handshake to the published stream; false when the peer does not go along.
    ///
    /// - Parameter last: The last command that is answered.
    mutating func letIn(upTo last: String = "publish") -> Bool {
        guard wait(until: { $0.count >= 1537 }) else { return false }
        write([3] + [UInt8](repeating: 0, count: 1536) + heard[1..<1537])
        for (command, result) in [("connect", "_result"), ("createStream", "_result"), ("publish", "onStatus")] {
            guard wait(until: { Self.transaction(of: command, in: $0) != nil }),
                let transaction = Self.transaction(of: command, in: heard)
            else { return false }
            let code = command == "publish" ? "NetStream.Publish.Start" : "NetConnection.Connect.Success"
            let argument: [UInt8] =
                command == "createStream"
                ? [0, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0]
                : [3] + key("level") + string("status") + key("code") + string(code) + [0, 0, 9]
            send(type: 20, chunkStream: 3, string(result) + transaction + [5] + argument)
            if command == last { return true }
        }
        return true
    }

    /// Sends a message of up to 128 bytes as one chunk.
    func send(type: UInt8, chunkStream: UInt8, _ body: [UInt8]) {
        write([chunkStream, 0, 0, 0, 0, 0, UInt8(body.count), type, 0, 0, 0, 0] + body)
    }

    /// Waits for bytes that were not heard before this call.
    mutating func wait(for bytes: [UInt8]) -> Bool {
        heard = []
        return wait { Data($0).range(of: Data(bytes)) != nil }
    }

    /// Listens until the peer hangs up; false when it does not.
    mutating func waitForEnd() -> Bool {
        _ = wait { _ in false }
        return !isEnded()
    }

    private mutating func wait(until isThere: ([UInt8]) -> Bool) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !isThere(heard) {
            var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard !isEnded() else { return false }
            guard poll(&poller, 1, 50) > 0 else { continue }
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            heard += buffer[..<count]
        }
        return true
    }

    /// The AMF0 number that follows a command's name.
    private static func transaction(of command: String, in bytes: [UInt8]) -> [UInt8]? {
        let data = Data(bytes)
        guard let name = data.range(of: Data([0, UInt8(command.utf8.count)] + command.utf8)) else { return nil }
        let number = data[name.upperBound...].prefix(9)
        return number.count == 9 ? Array(number) : nil
    }

    private func string(_ text: String) -> [UInt8] { [2] + key(text) }

    private func key(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + text.utf8 }

    private func write(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}
