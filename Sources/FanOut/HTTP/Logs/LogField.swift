/// What is read of a line of a request log.
///
/// Each has a name of ours and those under which content networks write the same: Cloudflare (Logpush, `http_requests`),
/// Akamai (DataStream 2, JSON) and Amazon (CloudFront real-time and standard logs).
enum LogField {
    case time
    /// Path and query, or the whole address.
    case address
    case path
    case query
    case status
    case method
    case client
    case userAgent
    case country
    case sid
    case cmcd
    case cmcdSession
    case cmcdStatus
    case playbackSession
    case purpose

    /// The first that a line has is taken.
    var names: [String] {
        switch self {
        case .time: ["time", "EdgeStartTimestamp", "reqTimeSec", "timestamp", "timestamp(ms)"]
        case .address: ["uri", "url", "ClientRequestURI"]
        case .path: ["path", "reqPath", "cs-uri-stem"]
        case .query: ["query", "queryStr", "cs-uri-query"]
        case .status: ["status", "EdgeResponseStatus", "statusCode", "sc-status"]
        case .method: ["method", "ClientRequestMethod", "reqMethod", "cs-method"]
        case .client: ["ip", "ClientIP", "cliIP", "c-ip"]
        case .userAgent: ["user_agent", "ClientRequestUserAgent", "UA", "cs-user-agent", "cs(User-Agent)"]
        case .country: ["country", "ClientCountry", "c-country"]
        case .sid: ["sid"]
        case .cmcd: ["cmcd", "CMCD"]
        case .cmcdSession: ["cmcd_session", "cmcd-session"]
        case .cmcdStatus: ["cmcd_status", "cmcd-status"]
        case .playbackSession: ["playback_session_id", "x-playback-session-id"]
        case .purpose: ["sec_purpose", "sec-purpose"]
        }
    }

    /// The same said by the player's own text, in Amazon's logs the item alone.
    static let cmcdSessionID = "cmcd-session-id"
    /// Header fields of the request that Cloudflare was told to log, by their names in small letters.
    static let headers = "RequestHeaders"
}
