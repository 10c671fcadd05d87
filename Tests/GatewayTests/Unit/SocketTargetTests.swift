import Glibc
import Synchronization
import Testing

@testable import Gateway

@Suite("Addresses of sockets")
struct SocketTargetTests {
    @Test("An IPv4 address is read with its port, and anything shorter or of another family is none")
    func addresses() {
        let four: [UInt8] = [UInt8(AF_INET), 0, 0x1F, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        let target = four.withUnsafeBytes { SocketTarget(socketAddress: $0) }
        #expect(target == SocketTarget(address: "127.0.0.1", port: 8080) && target?.description == "127.0.0.1:8080")
        #expect(four.dropLast().withUnsafeBytes { SocketTarget(socketAddress: $0) } == nil)
        let local: [UInt8] = [UInt8(AF_UNIX), 0] + [UInt8](repeating: 47, count: 20)
        #expect(local.withUnsafeBytes { SocketTarget(socketAddress: $0) } == nil)
    }

    @Test("An IPv6 address is read with its port")
    func six() {
        let start: [UInt8] = [UInt8(AF_INET6), 0, 0x07, 0x8F, 0, 0, 0, 0]
        let bytes = start + [UInt8](repeating: 0, count: 15) + [1] + [0, 0, 0, 0]
        let target = bytes.withUnsafeBytes { SocketTarget(socketAddress: $0) }
        #expect(target == SocketTarget(address: "::1", port: 1935) && target?.description == "[::1]:1935")
        #expect(bytes.dropLast().withUnsafeBytes { SocketTarget(socketAddress: $0) } == nil)
    }
}
