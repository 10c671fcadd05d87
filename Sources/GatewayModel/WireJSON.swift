public import Foundation

/// How the words of the control API become JSON and back: keys as the types name them, slashes as they are.
public enum WireJSON {
    /// Writes a value; keys in alphabetical order, so that equal values are equal bytes.
    public static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// Reads a value; unknown fields are ignored.
    ///
    /// - Throws: `WireFault` that names the field at fault.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws(WireFault) -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw WireFault(error)
        }
    }
}
