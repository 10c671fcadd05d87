import Testing

@testable import FanOut

@Suite("Pending responses of a connection")
struct MediaConnectionTests {
    private static let mebibyte = 1 << 20

    @Test("is full from two mebibytes of pending responses on, and calls each waiting handler once when it is no more")
    func full() {
        let connection = MediaConnection()
        let handlers = [Handler(), Handler(), Handler()]
        var called: [Int] = []
        connection.began(3 * Self.mebibyte)
        #expect(connection.isFull)
        for (index, handler) in handlers.enumerated() {
            connection.whenNotFull(ObjectIdentifier(handler)) { called.append(index) }
        }
        // A handler that goes away is not called.
        connection.whenNotFull(ObjectIdentifier(handlers[2]), nil)
        connection.completed(Self.mebibyte)
        #expect(connection.isFull && called.isEmpty)
        connection.completed(1)
        #expect(!connection.isFull && called.sorted() == [0, 1])
        connection.completed(2 * Self.mebibyte - 1)
        #expect(called.count == 2)
    }

    /// Something with an identity.
    private final class Handler {}
}
