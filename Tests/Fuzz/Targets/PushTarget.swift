@testable import Assets
@testable import Egress
@testable import Viewership
import NIOCore

extension FuzzTarget {
    /// Responses of push servers, and the headers of fetched assets.
    static let push = FuzzTarget("push") { input in
        var input = input
        let mode = input.byte()
        switch mode & 3 {
        case 0:
            var reader = ServerMessageReader()
            while input.rest.readableBytes > 0 {
                reader.append(input.bytes(Int(mode >> 2) + 1).readableBytesView)
                do {
                    while let message = try reader.next() {
                        _ = message.body.withUnsafeBytes { ServerStatus($0)?.summary }
                    }
                } catch {
                    return
                }
            }
        case 1:
            let bytes = Array(input.rest.readableBytesView)
            _ = bytes.withUnsafeBytes { ServerStatus($0)?.summary }
            let head = Array(bytes.prefix(AssetFormat.headLength))
            if let format = AssetFormat(head: head) { _ = ImageSize(of: format, head: head) }
        case 2:
            var header = JPEGFrameHeader()
            while input.rest.readableBytes > 0 { header.append(input.bytes(Int(mode >> 2) + 1)) }
        default:
            guard let regions = try? RegionDatabase(bytes: Array(input.rest.readableBytesView)) else { return }
            for address in ["192.0.2.1", "255.255.255.255", "2001:db8::1"] { _ = regions.region(of: address) }
        }
    }
}
