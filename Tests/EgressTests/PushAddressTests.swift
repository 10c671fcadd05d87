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
        let six = try PushAddress(url: "RTMP://[::1]:1936/app/", streamKey: "k")
        #expect(six.host == "::1")
        #expect(six.applicationURL == "rtmp://[::1]:1936/app")
        #expect(six.maskedStreamKey == "****")
    }
}
