import FootlightTesting
import Glibc

/// A connection on which requests are answered one after the other; waits for each answer.
struct HTTPExchange: ~Copyable {
    private let socket: Int32
    private var rest: [UInt8] = []

    init(port: Int) throws {
        socket = try ViewerSocket.connect(port: port)
    }

    deinit { close(socket) }

    /// The request for a path, as bytes.
    static func request(_ path: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\n\r\n".utf8)
    }

    /// Asks for a path and waits for the whole answer.
    ///
    /// - Throws: `ToolFailure` when there is none within ten seconds, or none with a length.
    mutating func get(_ path: String) throws -> (status: Int, body: [UInt8]) {
        try ViewerSocket.send(Self.request(path), on: socket)
        var head = AnswerHead(rest)
        while head == nil {
            try receive()
            head = AnswerHead(rest)
        }
        guard let head else { throw ToolFailure("no answer to \(path)") }
        while rest.count < head.length + head.bodyLength { try receive() }
        let body = Array(rest[head.length..<head.length + head.bodyLength])
        rest.removeFirst(head.length + head.bodyLength)
        return (head.status, body)
    }

    private mutating func receive() throws {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { throw ViewerSocket.failure("an answer breaks off") }
        rest += bytes[..<count]
    }
}

/// What the beginning of an answer says of the rest.
struct AnswerHead {
    let status: Int
    /// Bytes up to the body.
    let length: Int
    let bodyLength: Int

    /// Reads an answer's first bytes; nil while its header is not whole.
    init?(_ bytes: some Collection<UInt8>) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        length = bytes.distance(from: bytes.startIndex, to: end.upperBound)
        let field = lines.first { $0.lowercased().hasPrefix("content-length:") }
        bodyLength = field.flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) } ?? 0
    }
}
