/// The page of a list.
public struct PageResource: Codable, Sendable, Hashable {
    /// The maximum number of entries on a page.
    public var pageSize: Int
    /// The token of the next page; null on the last.
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
