import Foundation
import TestSupport
import Testing

/// The handbook's example page, word for word, with an hls.js that always fails.
@Suite("Handbook example page", .timeLimit(.minutes(1)))
struct HandbookPageTests {
    /// Returns the script of the handbook's section on pages.
    private func script() throws -> String {
        let handbook = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/Gateway/Gateway.docc/Operating.md").path
        let text = try String(contentsOfFile: handbook, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Play it in a page of your own").last)
        let lines = section.components(separatedBy: "\n").drop { !$0.hasPrefix("    ") }
        return lines.prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }.joined(separator: "\n")
    }

    @Test("retries after each fatal error with a growing, bounded delay and the same session")
    func recovery() async throws {
        let browser = try await HeadlessBrowser()
        try await browser.open("about:blank")
        let said = try await browser.evaluate(
            """
            (async () => {
                document.body.innerHTML = '<video></video>';
                const done = [];
                const handlers = {};
                let waited = 0;
                const { setTimeout: later } = globalThis;
                globalThis.Hls = class {
                    static Events = { ERROR: 'error', FRAG_BUFFERED: 'buffered' };
                    static ErrorTypes = { MEDIA_ERROR: 'media', NETWORK_ERROR: 'network' };
                    levels = [];
                    constructor() { globalThis.made = this; }
                    on(event, handler) { handlers[event] = handler; }
                    loadSource(url) { done.push(url); }
                    attachMedia(video) { done.push(video.tagName); }
                    startLoad() { done.push('startLoad'); }
                    recoverMediaError() { done.push('recoverMediaError'); }
                };
                globalThis.setTimeout = (work, milliseconds) => { waited = milliseconds; work(); };
                new Function(\(String(reflecting: try script())))();
                const fail = (type, fatal = true) => {
                    waited = 0;
                    handlers.error('error', { type, fatal });
                    return waited;
                };
                fail('network', false);
                const first = fail('network');
                made.levels = [{}];
                const waits = Array.from({ length: 9 }, () => fail('network'));
                handlers.buffered();
                const again = fail('network');
                fail('media');
                globalThis.setTimeout = later;
                const isRising = waits.every((wait, index) => wait >= (waits[index - 1] ?? first));
                return { done, first, again, isRising, last: waits.at(-1) };
            })()
            """
        )
        let done = said["done"].elements.compactMap(\.string)
        let address = "http://HOST:8080/live/show/index.m3u8"
        let expected = [address, "VIDEO", address] + Array(repeating: "startLoad", count: 10) + ["recoverMediaError"]
        #expect(done == expected, "\(said.text)")
        #expect(said["first"].double == 500 && said["again"].double == 500, "\(said.text)")
        #expect(said["isRising"].bool == true && said["last"].double == 2000, "\(said.text)")
    }
}
