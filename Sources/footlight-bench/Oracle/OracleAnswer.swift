/// The head of an answer by HTTP whose length it says.
struct OracleHead {
    let status: Int
    /// Bytes up to the body.
    let length: Int
    let bodyLength: Int

    private static let limit = 4096
    private static let field = Array("\r\ncontent-length:".utf8)

    /// Nil while it is not whole.
    init?(_ bytes: some RandomAccessCollection<UInt8>) {
        let head = Array(bytes.prefix(Self.limit))
        guard let end = Self.end(of: head) else { return nil }
        length = end
        // `HTTP/1.1 200 OK`
        status = Self.number(in: head, from: 9) ?? 0
        bodyLength = Self.place(of: Self.field, in: head[..<end]).flatMap { Self.number(in: head, from: $0) } ?? 0
    }

    /// Behind the empty line.
    static func end(of bytes: [UInt8]) -> Int? {
        let limit = min(bytes.count, limit)
        guard limit >= 4 else { return nil }
        return (0...(limit - 4)).first {
            bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
        }.map { $0 + 4 }
    }

    /// Behind the first `word`, in small letters or large ones.
    private static func place(of word: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= word.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - word.count)).first { start in
            word.indices.allSatisfy { offset in
                let byte = bytes[start + offset]
                return ((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) == word[offset]
            }
        }.map { $0 + word.count }
    }

    private static func number(in bytes: [UInt8], from start: Int) -> Int? {
        let digits = bytes.dropFirst(start).drop { $0 == 32 }.prefix { (48...57).contains($0) }.prefix(10)
        return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
}

/// A whole answer by HTTP.
struct OracleAnswer {
    let status: Int
    let lines: [Substring]

    /// Nil while it is not whole.
    init?(_ bytes: [UInt8]) {
        guard let head = OracleHead(bytes), bytes.count >= head.length + head.bodyLength else { return nil }
        status = head.status
        let body = bytes[head.length..<head.length + head.bodyLength]
        lines = String(decoding: body, as: UTF8.self).split(separator: "\n")
    }

    /// The newest media that a playlist names: the last segment, or a part that no segment has yet.
    func newestMedia(byPart: Bool) -> Substring? {
        let newest = lines.last { !$0.hasPrefix("#") || byPart && $0.hasPrefix("#EXT-X-PART:") }
        guard let newest, newest.hasPrefix("#") else { return newest }
        return newest.firstRange(of: "URI=\"").map { newest[$0.upperBound...].prefix { $0 != "\"" } }
    }

    /// The sequence number of the last whole segment of a playlist.
    var lastSequence: Int? {
        let first = lines.first { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") }
            .flatMap { Int($0.dropFirst("#EXT-X-MEDIA-SEQUENCE:".count)) }
        return first.map { $0 + lines.count { !$0.hasPrefix("#") } - 1 }
    }
}
