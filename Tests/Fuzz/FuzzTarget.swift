import NIOCore

/// One place where bytes of others come in.
struct FuzzTarget: Sendable {
    let name: String
    /// Takes bytes; may refuse them in every way but a trap.
    let body: @Sendable (FuzzInput) -> Void

    init(_ name: String, _ body: @escaping @Sendable (FuzzInput) -> Void) {
        self.name = name
        self.body = body
    }

    /// All of them; `deploy/fuzz` asks for their names.
    static let all: [FuzzTarget] = [
        .rtmp, .amf0, .flv, .codec, .http, .playlist, .session, .history, .outbox, .rooms, .webhook, .log, .push, .api,
    ]
}

/// The bytes of one run, taken from the front.
struct FuzzInput {
    var rest: ByteBuffer

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        rest = ByteBuffer(bytes: bytes)
    }

    /// Everything that is left, as text.
    var text: String { String(buffer: rest) }

    /// 0 at the end.
    mutating func byte() -> UInt8 { rest.readInteger() ?? 0 }

    /// 0 at the end.
    mutating func number() -> Int64 { rest.readInteger() ?? 0 }

    /// Up to so many bytes.
    mutating func bytes(_ count: Int) -> ByteBuffer {
        rest.readSlice(length: min(count, rest.readableBytes)) ?? ByteBuffer()
    }

    /// The lines that are left.
    var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}

/// What must hold whatever comes in; ends the process where it does not, which is a finding.
func demand(_ isTrue: Bool, _ what: StaticString) {
    if !isTrue { fatalError("\(what)") }
}
