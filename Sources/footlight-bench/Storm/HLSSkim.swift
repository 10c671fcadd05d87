/// Joins by HLS as a player does: a playlist of its own, with a session that nobody had before, the media playlist, the
/// initialization, and the newest whole segment.
struct HLSSkim: StreamSkim {
    private enum Step {
        case multivariant
        case media
        case initialization(segment: String)
        case segment
    }

    private let folder: String
    private var step = Step.multivariant
    /// The answer so far, without a body that nobody reads.
    private var answer: [UInt8] = []
    /// Bytes of that body to come.
    private var remaining: Int?
    private(set) var habit: [UInt8]?

    init(room: String) {
        folder = "/live/\(room)/"
    }

    mutating func take(_ bytes: UnsafeRawBufferPointer) -> SkimResult? {
        if let left = remaining {
            remaining = left - bytes.count
        } else {
            answer += bytes
            guard let head = AnswerHead(answer) else { return nil }
            guard head.status == 200 else { return .refused }
            switch step {
            case .multivariant, .media:
                guard answer.count >= head.length + head.bodyLength else { return nil }
                return read(String(decoding: answer[head.length...], as: UTF8.self))
            case .initialization, .segment:
                remaining = head.length + head.bodyLength - answer.count
            }
        }
        guard let left = remaining, left <= 0 else { return nil }
        remaining = nil
        answer.removeAll(keepingCapacity: true)
        guard case .initialization(let segment) = step else { return .keyPicture }
        step = .segment
        return .ask(HTTPExchange.request(segment))
    }

    /// A playlist says what is asked for next.
    private mutating func read(_ playlist: String) -> SkimResult {
        answer.removeAll(keepingCapacity: true)
        let lines = playlist.split(whereSeparator: \.isNewline)
        if case .multivariant = step {
            guard let media = lines.first(where: { !$0.hasPrefix("#") }) else { return .refused }
            let question = HTTPExchange.request(folder + media)
            habit = question
            step = .media
            return .ask(question)
        }
        let news = PlaylistScout.read(playlist, path: folder + "media.m3u8")
        guard let segment = lines.last(where: { !$0.hasPrefix("#") }), !news.initializationPath.isEmpty else {
            return .refused
        }
        step = .initialization(segment: folder + segment)
        return .ask(HTTPExchange.request(news.initializationPath))
    }
}
