/// By what a part of a storm comes.
struct StormWay: Sendable {
    let name: String
    let port: Int
    let dialogue: Dialogue
    let skim: @Sendable () -> any StreamSkim

    /// Viewers to whom the server sends its stream.
    init(_ server: MediaServer) {
        name = server.playback.rawValue
        port = server.viewerPort
        dialogue = server.dialogue
        skim =
            switch server.playback {
            case .rtmp: { RTMPSkim() }
            case .flv: { FLVSkim() }
            }
    }

    /// Viewers by HLS, who ask for each thing.
    init(hlsOf server: MediaServer) {
        let room = server.stream
        name = "hls"
        port = server.httpPort ?? server.port
        let question = HTTPExchange.request("/live/\(room)/index.m3u8")
        dialogue = Dialogue(hello: question, answerLength: 0, request: [])
        skim = { HLSSkim(room: room) }
    }
}
