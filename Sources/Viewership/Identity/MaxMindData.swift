/// The data section of a MaxMind DB: values that say of what type and how long they are, and pointers between them.
struct MaxMindData: Sendable {
    enum Value {
        case text(String)
        case number(UInt64)
        case map([String: Value])
        case list([Value])
        /// Of a type that nobody here reads.
        case other
    }

    /// How deep values may be in each other, pointers included.
    private static let depthLimit = 32
    /// Entries of a map or a list.
    private static let sizeLimit = 4096

    let bytes: [UInt8]
    /// Where offsets count from.
    let base: Int

    /// The value at an offset; nil for what is not in the format.
    func value(at offset: Int) -> Value? {
        guard offset >= 0, offset < bytes.count else { return nil }
        var place = base + offset
        return read(&place, depth: 0)
    }

    private func read(_ place: inout Int, depth: Int) -> Value? {
        guard depth < Self.depthLimit, let control = byte(&place) else { return nil }
        var type = Int(control >> 5)
        if type == 1 { return follow(control, &place, depth: depth) }
        if type == 0 {
            guard let more = byte(&place) else { return nil }
            type = 7 + Int(more)
        }
        guard let size = size(control, &place) else { return nil }
        switch type {
        case 2:
            guard place + size <= bytes.count else { return nil }
            defer { place += size }
            return .text(String(decoding: bytes[place..<place + size], as: UTF8.self))
        case 5, 6, 9:
            guard size <= 8, let number = number(size, &place) else { return nil }
            return .number(number)
        case 7:
            return map(size, &place, depth: depth)
        case 11:
            guard size <= Self.sizeLimit else { return nil }
            var values: [Value] = []
            for _ in 0..<size {
                guard let value = read(&place, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .list(values)
        case 14:
            // The size is the value, and nothing follows.
            return .number(UInt64(size))
        case 3, 4, 8, 10, 15:
            guard place + size <= bytes.count else { return nil }
            place += size
            return .other
        default:
            return nil
        }
    }

    private func map(_ size: Int, _ place: inout Int, depth: Int) -> Value? {
        guard size <= Self.sizeLimit else { return nil }
        var values: [String: Value] = [:]
        for _ in 0..<size {
            guard case .text(let key)? = read(&place, depth: depth + 1) else { return nil }
            guard let value = read(&place, depth: depth + 1) else { return nil }
            values[key] = value
        }
        return .map(values)
    }

    private func follow(_ control: UInt8, _ place: inout Int, depth: Int) -> Value? {
        let length = Int(control >> 3 & 3) + 1
        guard let rest = number(length, &place) else { return nil }
        let high = length == 4 ? 0 : UInt64(control & 7) << UInt64(8 * length)
        let bias: UInt64 = [0, 2048, 526_336, 0][length - 1]
        let target = base + Int(high + rest + bias)
        guard target < bytes.count else { return nil }
        var other = target
        return read(&other, depth: depth + 1)
    }

    private func size(_ control: UInt8, _ place: inout Int) -> Int? {
        let size = Int(control & 31)
        guard size >= 29 else { return size }
        let length = size - 28
        guard let rest = number(length, &place) else { return nil }
        return Int(rest) + [29, 285, 65_821][length - 1]
    }

    private func number(_ length: Int, _ place: inout Int) -> UInt64? {
        var number: UInt64 = 0
        for _ in 0..<length {
            guard let byte = byte(&place) else { return nil }
            number = number << 8 | UInt64(byte)
        }
        return number
    }

    private func byte(_ place: inout Int) -> UInt8? {
        guard bytes.indices.contains(place) else { return nil }
        defer { place += 1 }
        return bytes[place]
    }
}
