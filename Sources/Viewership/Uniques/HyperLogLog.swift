import Foundation

/// Counts distinct hashes in 16 KiB, to 0.81 % (one standard deviation).
///
/// Flajolet, Fusy, Gandouet, Meunier: "HyperLogLog" (2007), with 2^14 registers and linear counting for few values.
struct HyperLogLog: Sendable {
    private static let precision = 14
    private static let size = 1 << precision

    private var registers = [UInt8](repeating: 0, count: size)

    /// - Parameter hash: uniformly distributed.
    mutating func insert(_ hash: UInt64) {
        let register = Int(hash >> (64 - Self.precision))
        let rest = hash << Self.precision | 1 << (Self.precision - 1)
        registers[register] = max(registers[register], UInt8(rest.leadingZeroBitCount + 1))
    }

    var estimate: Int {
        let size = Double(Self.size)
        var (sum, empty) = (0.0, 0)
        for register in registers {
            sum += 1 / Double(UInt64(1) << UInt64(register))
            if register == 0 { empty += 1 }
        }
        let raw = 0.7213 / (1 + 1.079 / size) * size * size / sum
        guard raw <= 2.5 * size, empty > 0 else { return Int(raw.rounded()) }
        return Int((size * log(size / Double(empty))).rounded())
    }
}
