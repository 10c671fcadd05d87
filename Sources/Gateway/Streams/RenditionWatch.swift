import Stage

/// What operators are told of outputs whose rendition the mixer does without, and makes again.
struct RenditionWatch {
    /// The outputs that were told of, by the rendition that they push.
    private var told: [RenditionFeedName: Set<String>] = [:]

    init() {}

    /// Takes in what stands still now.
    ///
    /// - Parameters:
    ///   - still: The renditions, and the names of the outputs that push them.
    ///   - exists: Whether there is such a rendition at all; one that went with its room is no news.
    /// - Returns: The warnings to give, by room.
    mutating func look(
        at still: [RenditionFeedName: Set<String>],
        exists: (RenditionFeedName) -> Bool
    ) -> [(room: String, warning: LivestreamWarning)] {
        var news: [(room: String, warning: LivestreamWarning)] = []
        for (name, outputs) in told where still[name] == nil {
            told[name] = nil
            guard exists(name) else { continue }
            for output in outputs.sorted() {
                let message = "Output \(output): rendition \(name.rendition) is made again"
                news.append((name.room, LivestreamWarning(.renditionResumed, output: output, message: message)))
            }
        }
        for (name, outputs) in still {
            let known = told[name] ?? []
            told[name] = known.union(outputs)
            for output in outputs.subtracting(known).sorted() {
                let message = "Output \(output): rendition \(name.rendition) is not made at present"
                news.append((name.room, LivestreamWarning(.renditionStopped, output: output, message: message)))
            }
        }
        return news
    }
}
