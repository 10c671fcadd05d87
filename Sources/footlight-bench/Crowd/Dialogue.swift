/// The bytes that get a viewer its stream, written once for a whole crowd.
struct Dialogue {
    /// What is said first.
    let hello: [UInt8]
    /// Bytes of the server's answer to that before the rest may be said.
    let answerLength: Int
    /// The rest; empty when everything is said.
    let request: [UInt8]

    /// A player by HTTP-FLV.
    static func flv(port: Int, stream: String) -> Dialogue {
        let text = "GET /live/\(stream).flv HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUser-Agent: bench\r\n\r\n"
        return Dialogue(hello: Array(text.utf8), answerLength: 0, request: [])
    }

    /// A player by RTMP.
    static func rtmp(port: Int, application: String, stream: String) -> Dialogue {
        let play = PlayDialogue(port: port, application: application, stream: stream)
        return Dialogue(hello: play.hello, answerLength: PlayDialogue.answerLength, request: play.request)
    }
}
