import Stage
import Testing

@Suite("Asset references")
struct AssetReferenceTests {
    @Test(
        "accepts an asset name or an HTTP URL",
        arguments: [
            "asset:logo", "asset:A-b_9", "https://a.example/x.png", "HTTP://a.example:81/?q=%20", "http://[::1]/a",
        ]
    )
    func good(text: String) throws {
        let reference = try #require(AssetReference(text))
        #expect(reference.text == text)
        #expect(reference.name == (text.hasPrefix("asset:") ? String(text.dropFirst(6)) : nil))
    }

    @Test(
        "rejects every other text",
        arguments: [
            "", "logo", "asset:", "asset:../key", "asset:a/b", "asset:.png", "file:///etc/passwd", "https://",
            "https:///a", "https://:80/", "https://user:key@a.example/", "https://a.example/ä", "https://a b/",
            "https://a.example/\r\nHost: b", "ftp://a.example/", "data:image/png;base64,AA", "https://a\\b/",
            "https://a.example/" + String(repeating: "x", count: 2000),
        ]
    )
    func bad(text: String) {
        #expect(AssetReference(text) == nil)
    }
}
