import HTTPTypes
import Hummingbird
import NIOCore

/// Names the state of a report (RFC 9110 8.8.3), so that who has it already need not be sent it again.
struct EntityTag: Equatable {
    /// As in a header field.
    let text: String

    /// - Parameters:
    ///   - content: What the report says.
    ///   - isWeak: Answers with the same tag mean the same, but are not the same bytes.
    init(of content: some Sequence<UInt8>, isWeak: Bool) {
        // FNV-1a, 64 bits: two reports of the same address that follow each other must not have the same by chance.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in content { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        text = (isWeak ? "W/" : "") + "\"\(String(hash, radix: 36))\""
    }

    /// Whether a request says that this is what its client has (RFC 9110 13.1.2: compared weakly).
    func isHeld(by request: Request) -> Bool {
        guard let held = request.headers[.ifNoneMatch] else { return false }
        return held.split(separator: ",").contains { item in
            let tag = item.filter { $0 != " " && $0 != "\t" }
            return tag == "*" || Self.strong(tag) == Self.strong(text)
        }
    }

    private static func strong(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }

    /// The answer, with its tag.
    func answer(_ response: Response) -> Response {
        var response = response
        response.headers[.eTag] = text
        // May be kept, and has to be asked for each time. What says of when it is stands in no browser's cache: it would
        // show an old moment beside figures that have not changed since.
        response.headers[.cacheControl] = text.hasPrefix("W/") ? "no-store" : "private, no-cache"
        return response
    }
}
