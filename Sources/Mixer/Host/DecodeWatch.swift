/// Finds a decode thread that does not come back from a packet.
///
/// It counts looks, not time: a process that was stopped, or that gets no processor time at all, looks as seldom as it
/// decodes. Owned by whoever looks, twice a second.
struct DecodeWatch {
    /// Looks at which a thread is found inside the same packet, one after the other: about five seconds.
    static let patience = 10

    private var found: [String: (work: UInt64, looks: Int)] = [:]

    /// - Parameter works: Each input's `HostInput.work`, by its name.
    /// - Returns: An input whose packet has been decoded for too long, once for that packet.
    mutating func look(_ works: some Sequence<(id: String, work: UInt64)>) -> String? {
        var stuck: String?
        var present: [String: (work: UInt64, looks: Int)] = [:]
        for (id, work) in works where HostInput.isWorking(work) {
            let looks = found[id].map { $0.work == work ? $0.looks + 1 : 1 } ?? 1
            present[id] = (work, looks)
            if looks == Self.patience { stuck = stuck ?? id }
        }
        found = present
        return stuck
    }
}
