/// What of a file a `Range` header asks for (RFC 9110 section 14.2): one range, or all of it.
enum FileRange: Equatable {
    /// No range, several, or a form that is not understood.
    case whole
    case part(ClosedRange<Int>)
    /// The file ends before the range begins.
    case unsatisfiable

    init(_ header: String?, length: Int) {
        self = .whole
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }) else { return }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?) where first <= last:
            self = first < length ? .part(first...min(last, length - 1)) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < length ? .part(first...(length - 1)) : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && length > 0 ? .part(max(0, length - count)...(length - 1)) : .unsatisfiable
        default:
            return
        }
    }
}
