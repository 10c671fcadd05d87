import Stage

/// What becomes of a request for a playlist or a file.
enum MediaAnswer {
    /// It is answered at once.
    case now(MediaResponse)
    /// It is answered when the media that it asks for is there.
    case wait(MediaWait)
}

/// A request that waits for media, and what is known of it for the answer.
struct MediaWait {
    /// What was asked for, where the whole request is answered anew after the wait.
    struct Request {
        let request: MediaRequest
        let query: QueryItems
        let player: PlayerRequest
    }

    let program: HLSProgram
    let target: HLSWaitTarget
    /// Whose request it is; nil for a part, whose address is the same for everybody.
    let sid: String?
    /// Under whose name the answer is recorded; nil when it is not.
    let session: ViewerSession?
    /// The player reads gzip.
    let readsGzip: Bool
    /// The request, for one that waits until its program is back: nobody is admitted before.
    var request: Request?
}
