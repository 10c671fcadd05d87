import NIOCore

/// An entry point for untrusted bytes.
struct FuzzTarget: Sendable {
    let name: String
    /// Processes bytes; may refuse them in any way except a trap.
    let body: @Sendable (FuzzInput) -> Void

    init(_ name: String, _ body: @escaping @Sendable (FuzzInput) -> Void) {
        self.name = name
        self.body = body
    }

    /// All targets; `deploy/fuzz` lists their names.
    static let all: [FuzzTarget] = [
        .rtmp, .amf0, .flv, .codec, .http, .playlist, .session, .history, .outbox, .rooms, .webhook, .log, .push, .api,
    ]
}

/// The input of one run, consumed from the front.
struct FuzzInput {
    var rest: ByteBuffer

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        rest = ByteBuffer(bytes: bytes)
    }

    /// The remaining bytes as text.
    var text: String { String(buffer: rest) }

    /// The next byte; 0 at the end.
    mutating func byte() -> UInt8 { rest.readInteger() ?? 0 }

    /// The next integer; 0 at the end.
    mutating func number() -> Int64 { rest.readInteger() ?? 0 }

    /// At most the given number of bytes.
    mutating func bytes(_ count: Int) -> ByteBuffer {
        rest.readSlice(length: min(count, rest.readableBytes)) ?? ByteBuffer()
    }

    /// The remaining lines.
    var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}

/// Checks a property that must hold for any input; ends the process otherwise, which is a finding.
func demand(_ isTrue: Bool, _ what: StaticString) {
    if !isTrue { fatalError("\(what)") }
}
