import Testing

@testable import Egress

@Suite("Push addresses")
struct PushAddressTests {
    @Test("the common platform addresses are read")
    func common() throws {
        let youtube = try PushAddress(url: "rtmps://a.rtmps.youtube.com/live2", streamKey: "abcd-efgh-ijkl-mnop")
        #expect(youtube.port == 443)
        #expect(youtube.masked == "rtmps://a.rtmps.youtube.com:443/live2")
        #expect(youtube.maskedStreamKey == "****mnop")
        let backup = try PushAddress(url: "rtmp://b.rtmp.youtube.com/live2?backup=1", streamKey: "abcd-efgh-ijkl-mnop")
        #expect(backup.port == 1935)
        #expect(backup.application == "live2?backup=1")
        #expect(backup.masked == "rtmp://b.rtmp.youtube.com:1935/live2?****")
        let six = try PushAddress(url: "RTMP://[::1]:1936/app/", streamKey: "k")
        #expect(six.host == "::1")
        #expect(six.applicationURL == "rtmp://[::1]:1936/app")
        #expect(six.maskedStreamKey == "****")
    }

    @Test("a key inside the path, and the key itself, are never shown")
    func masking() throws {
        let address = try PushAddress(url: "rtmp://host/app/secret-one", streamKey: "secret-two-canary")
        for text in [address.masked, "\(address)", String(reflecting: address)] {
            #expect(!text.contains("secret"))
            #expect(text == "rtmp://host:1935/app/****")
        }
        var dumped = ""
        dump(address, to: &dumped)
        #expect(!dumped.contains("canary"))
    }

    @Test(
        "what could mean something else to a library is refused",
        arguments: [
            "", "http://host/app", "rtmpe://host/app", "rtmp://host", "rtmp://host/", "rtmp:///app",
            "rtmp://user@host/app",
            "rtmp://user:pw@host/app", "rtmp://host:0/app", "rtmp://host:65536/app", "rtmp://host:19x/app",
            "rtmp://host:/app", "rtmp://host/app swfUrl=x", "rtmp://host/app\n", "rtmp://host/a\u{7F}",
            "rtmp://ho_st!/app",
            "rtmp://[::1/app", "rtmp://[1.2.3.4]/app", "rtmp://[::1]x/app", "rtmp://-.-./", "rtmp://hö.example/app",
            "rtmp://host/app#x", "rtmp://host/a\"b", "rtmp://host/a\\20b", "rtmp://a..b/app",
        ]
    )
    func refused(url: String) {
        #expect(throws: PushError.self) { try PushAddress(url: url, streamKey: "key") }
    }

    @Test("bad keys are refused without being repeated", arguments: ["", "a b", "a\r\nb", "ключ", "a\0b"])
    func badKeys(key: String) {
        let error = #expect(throws: PushError.self) { try PushAddress(url: "rtmp://host/app", streamKey: key) }
        #expect(key.isEmpty || error?.message.contains(key) == false)
    }
}
