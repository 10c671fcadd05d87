/// Where a list goes on.
public struct PageResource: Codable, Sendable, Hashable {
    /// Entries on a page at most.
    public var pageSize: Int
    /// Names the next page; null on the last.
    @ExplicitNull public var nextPageToken: String?

    /// Makes a page description.
    public init(pageSize: Int, nextPageToken: String?) {
        self.pageSize = pageSize
        self.nextPageToken = nextPageToken
    }

    private enum CodingKeys: String, CodingKey {
        case pageSize = "page_size"
        case nextPageToken = "next_page_token"
    }
}
