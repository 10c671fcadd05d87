public import NIOCore
import NIOPosix
public import Stage

/// A file of a room, open for reading; it stays what it is while another one takes its name.
public struct AssetFile: Sendable {
    /// What it is.
    public let asset: Asset
    /// The name under which it can be saved.
    public let fileName: String

    let file: OpenFile
    let threads: NIOThreadPool

    /// Bytes that are read at a time.
    private static let chunkLength = 64 * 1024

    /// Hands the whole file to `write`, piece by piece, each once the one before is taken.
    public func forEachChunk(_ write: (ByteBuffer) async throws -> Void) async throws {
        var offset = 0
        while offset < asset.size {
            let (file, start) = (file, offset)
            let chunk = try await threads.runIfActive { try file.read(from: start, upTo: Self.chunkLength) }
            // Shorter than it was said to be: whoever waits for the rest must see that it does not come.
            guard chunk.readableBytes > 0 else { throw AssetFault("read") }
            offset += chunk.readableBytes
            try await write(chunk)
        }
    }
}
