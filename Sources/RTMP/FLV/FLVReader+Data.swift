import NIOCore

extension FLVReader {
    /// Takes bytes as a file gives them.
    public mutating func append(data: some Sequence<UInt8>) {
        append(ByteBuffer(bytes: data))
    }
}
