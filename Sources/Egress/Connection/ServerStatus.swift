/// What a target says about our stream, read out of an RTMP command message (Adobe RTMP specification 1.0, 7.2).
///
/// Everything is bounded and checked, for the peer wrote it.
struct ServerStatus: Sendable, Equatable {
    /// `onStatus`, `_error` or another command.
    var command: String
    /// Such as `NetStream.Publish.BadName`; empty when there is none.
    var code: String
    var description: String
    var isError: Bool
    /// Which of our commands this answers; nil for none.
    var transaction: Int?
    /// The number a `_result` carries, such as the id of a created stream.
    var number: Int?

    /// Reads a command message; nil for anything else.
    init?(_ message: UnsafeRawBufferPointer) {
        var reader = AMF0Reader(message)
        guard case .string(let command)? = reader.value() else { return nil }
        self.command = command
        code = ""
        description = ""
        isError = command == "_error"
        if case .number(let number)? = reader.value() { transaction = Int(exactly: number) }
        while let value = reader.value() {
            if case .number(let found) = value { number = Int(exactly: found) }
            guard case .object(let properties) = value else { continue }
            for (name, text) in properties {
                switch name {
                case "code": code = text
                case "description": description = text
                case "level": isError = isError || text == "error"
                default: break
                }
            }
        }
    }

    /// The target will not have the stream.
    ///
    /// An `_error` alone is not enough: many answer so to `releaseStream`.
    var isRefusal: Bool {
        let refused = ["BadName", "Denied", "Rejected", "InvalidApp", "Failed", "StreamNotFound"]
        return isError && refused.contains { code.hasSuffix("." + $0) }
    }

    /// The target agreed to take the stream.
    var isPublishStart: Bool { code == "NetStream.Publish.Start" }

    /// The code and description in one line, printable and short.
    var summary: String {
        let text = [code, description].filter { !$0.isEmpty }.joined(separator: ": ")
        let printable = text.unicodeScalars.map { $0.properties.isWhitespace || $0.value < 0x20 ? " " : String($0) }
        return String((text.isEmpty ? command : printable.joined()).prefix(200))
    }
}

/// Just enough AMF0 to read a status: strings, and the string properties of objects.
private struct AMF0Reader {
    enum Value {
        case string(String)
        case number(Double)
        case object([(String, String)])
        case other
    }

    private var bytes: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes[...]
    }

    mutating func value() -> Value? {
        guard let marker = bytes.popFirst() else { return nil }
        switch marker {
        case 0x00: return number()
        case 0x01: return skip(1) ? .other : nil
        case 0x02: return string().map { .string($0) }
        case 0x05, 0x06: return .other
        case 0x03: return properties().map { .object($0) }
        case 0x08: return skip(4) ? properties().map { .object($0) } : nil
        default: return nil
        }
    }

    private mutating func properties() -> [(String, String)]? {
        var found: [(String, String)] = []
        for _ in 0..<64 {
            guard let name = string() else { return nil }
            if name.isEmpty, bytes.first == 0x09 {
                _ = bytes.popFirst()
                return found
            }
            // Nothing nested is of interest; a status with an object inside is read up to it.
            switch bytes.first {
            case 0x03, 0x08, nil: return found
            default: break
            }
            guard let value = value() else { return found }
            if case .string(let text) = value { found.append((name, text)) }
        }
        return found
    }

    private mutating func string() -> String? {
        guard bytes.count >= 2 else { return nil }
        let length = Int(bytes[bytes.startIndex]) << 8 | Int(bytes[bytes.startIndex + 1])
        guard bytes.count >= 2 + length else { return nil }
        let text = bytes.dropFirst(2).prefix(length)
        bytes = bytes.dropFirst(2 + length)
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func number() -> Value? {
        guard bytes.count >= 8 else { return nil }
        let bits = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes = bytes.dropFirst(8)
        return .number(Double(bitPattern: bits))
    }

    private mutating func skip(_ count: Int) -> Bool {
        guard bytes.count >= count else { return false }
        bytes = bytes.dropFirst(count)
        return true
    }
}
