/// The dimension by which viewers are grouped.
public enum ViewershipGrouping: String, Sendable, Hashable, CaseIterable {
    case playback = "protocol"
    case rendition
    case region
    case client
}
