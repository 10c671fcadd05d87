@testable import FanOut
import Testing

@Suite("Media request paths")
struct MediaRequestTests {
    @Test("parses streams, playlists and files")
    func known() {
        #expect(MediaRequest(path: "/live/stage-1.flv") == MediaRequest(room: "stage-1", .flv))
        #expect(MediaRequest(path: "/live/r.preview.flv") == MediaRequest(room: "r.preview", .flv))
        #expect(
            MediaRequest(path: "/live/r.preview/index.m3u8") == MediaRequest(room: "r.preview", .multivariantPlaylist)
        )
        for path in ["/live/r.host.flv", "/live/.preview.flv", "/live/a.b.preview/index.m3u8"] {
            #expect(MediaRequest(path: path) == nil)
        }
        #expect(MediaRequest(path: "/live/r/index.m3u8") == MediaRequest(room: "r", .multivariantPlaylist))
        let playlist = MediaRequest(room: "r", .mediaPlaylist(rendition: nil))
        #expect(MediaRequest(path: "/live/r/media.m3u8?sid=a") == playlist)
        #expect(MediaRequest(path: "/live/r/720p.m3u8") == MediaRequest(room: "r", .mediaPlaylist(rendition: "720p")))
        let file = MediaRequest(room: "r", .file(run: "1x9", name: "s12.m4s"))
        #expect(MediaRequest(path: "/live/r/1x9/s12.m4s") == file)
        #expect(MediaRequest(path: "/live/" + String(repeating: "a", count: 64) + ".flv") != nil)
    }

    @Test("parses a session named in the path")
    func session() {
        func named(_ target: MediaRequest.Target) -> MediaRequest { MediaRequest(room: "r", sid: "abc", target) }
        #expect(MediaRequest(path: "/live/r/~abc/media.m3u8") == named(.mediaPlaylist(rendition: nil)))
        #expect(MediaRequest(path: "/live/r/~abc/720p.m3u8") == named(.mediaPlaylist(rendition: "720p")))
        let file = named(.file(run: "1x9", name: "s12.m4s"))
        #expect(MediaRequest(path: "/live/r/~abc/1x9/s12.m4s?CMCD=bs") == file)
        for path in [
            "/live/r/media.m3u8?sid=abc", "/live/r/1x9/s12.m4s", "/live/~abc/media.m3u8", "/v1/~abc/x",
            "/live/r?a=/~b/c",
        ] {
            #expect(MediaRequest(path: path)?.sid == nil)
        }
        #expect(MediaRequest(path: "/live/r/~abc") == nil && MediaRequest(path: "/live/~abc/~d/media.m3u8") == nil)
    }

    @Test(
        "does not parse other paths",
        arguments: [
            "", "/", "/live", "/live/", "/live/.flv", "/live/r", "/live/r/", "/live/r/.m3u8", "/v1/rooms",
            "/live/../etc.flv", "/live/a b.flv", "/live/a.b.flv", "/live/r.host.PA1.flv", "/live//index.m3u8",
            "/live/%72/index.m3u8", "/live/r/x/y/z", "/lives/r.flv", "live/r.flv", "/live/é.flv",
            "/live/" + String(repeating: "a", count: 65) + ".flv",
        ]
    )
    func unknown(path: String) {
        #expect(MediaRequest(path: path) == nil)
    }

    @Test("reads query items by name")
    func query() {
        let query = QueryItems(target: "/live/r/media.m3u8?a=1&sid=x.y-z_&b=&sid=second&flag&=v")
        #expect(query["sid"] == "x.y-z_")
        #expect(query["a"] == "1")
        #expect(query["b"] == "")
        #expect(query["flag"] == nil)
        #expect(query["si"] == nil)
        #expect(QueryItems(target: "/live/r.flv")["sid"] == nil)
        #expect(QueryItems(target: "/live/r.flv?")["sid"] == nil)
        #expect(QueryItems(target: "?sid=a?b=c")["sid"] == "a?b=c")
    }
}
