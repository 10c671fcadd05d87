/// A whole answer by HTTP whose length its header says.
struct OracleAnswer {
    let status: Int
    let lines: [Substring]

    /// Nil while it is not whole.
    init?(_ bytes: [UInt8]) {
        guard let end = Self.headEnd(bytes) else { return nil }
        let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
        guard let length = head.firstMatch(of: /content-length: (\d+)/).flatMap({ Int($0.output.1) }),
            bytes.count >= end + length
        else { return nil }
        status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        lines = String(decoding: bytes[end..<end + length], as: UTF8.self).split(separator: "\n")
    }

    /// Behind the empty line.
    static func headEnd(_ bytes: [UInt8]) -> Int? {
        let limit = min(bytes.count, 4096)
        guard limit >= 4 else { return nil }
        return (0...(limit - 4)).first {
            bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
        }.map { $0 + 4 }
    }
}
