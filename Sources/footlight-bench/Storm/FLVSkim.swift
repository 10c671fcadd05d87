/// Looks through an answer by HTTP whose body is FLV (FLV 10.1, annex E).
struct FLVSkim: StreamSkim {
    private static let end = Array("\r\n\r\n".utf8)
    private static let fileHeaderLength = 13

    private var answer: [UInt8]? = []
    private var header: [UInt8] = []
    /// Bytes to pass over.
    private var skipped = FLVSkim.fileHeaderLength
    private var tag: (type: UInt8, length: Int, taken: Int, mark: PictureMark)?

    mutating func take(_ bytes: UnsafeRawBufferPointer) -> SkimResult? {
        var bytes = bytes[...]
        if var answer {
            answer += bytes
            guard let range = answer.firstRange(of: Self.end) else {
                self.answer = answer
                return nil
            }
            guard answer.starts(with: Array("HTTP/1.1 200".utf8)) else { return .refused }
            bytes = bytes.suffix(answer.count - range.upperBound)
            self.answer = nil
        }
        while !bytes.isEmpty {
            if skipped > 0 {
                let count = min(skipped, bytes.count)
                skipped -= count
                bytes = bytes.dropFirst(count)
            } else if var current = tag {
                let count = min(current.length - current.taken, bytes.count)
                if current.taken < 2 {
                    for (index, byte) in bytes.prefix(min(2, count)).enumerated() {
                        current.mark.note(byte, at: current.taken + index)
                    }
                }
                current.taken += count
                bytes = bytes.dropFirst(count)
                tag = current.taken < current.length ? current : nil
                guard tag == nil else { continue }
                skipped = 4
                if current.type == 9, current.mark.isKeyPicture { return .keyPicture }
            } else {
                header.append(bytes[bytes.startIndex])
                bytes = bytes.dropFirst()
                guard header.count == 11 else { continue }
                let length = header[1...3].reduce(0) { $0 << 8 | Int($1) }
                tag = length > 0 ? (header[0], length, 0, PictureMark()) : nil
                if length == 0 { skipped = 4 }
                header.removeAll(keepingCapacity: true)
            }
        }
        return nil
    }
}
