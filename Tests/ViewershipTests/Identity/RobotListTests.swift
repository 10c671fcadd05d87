import Foundation
import Testing

@testable import Viewership

@Suite("Robot list")
struct RobotListTests {
    private func isUncounted(_ name: String, _ list: RobotList = RobotList()) -> Bool {
        UserAgent(name, robots: list).isUncounted
    }

    @Test(
        "crawlers, previewers and monitors are known",
        arguments: [
            "Better Uptime Bot Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/91.0 Safari/537.36",
            "Signal link preview", "Datadog/Synthetics",
            "Mozilla/5.0 (compatible; YandexMetrika/2.0; +http://yandex.com/bots)",
            "ZoominfoBot (zoominfobot at zoominfo dot com)", "Mozilla/5.0 (X11; Linux) NewRelicSynthetics/1.0",
            "NewRelicPinger/1.0 (2034)", "facebookexternalhit/1.1",
            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Twitterbot/1.0",
            "TelegramBot (like TwitterBot)", "WhatsApp/2.23.20.0", "Mozilla/5.0 (compatible; bingbot/2.0)", "Applebot",
            "Mozilla/5.0 AppleWebKit/537.36 (compatible; GPTBot/1.1; +https://openai.com/gptbot)", "anthropic-ai",
            "ChatGPT-User/1.0", "UptimeRobot/2.0", "Pingdom.com_bot_version_1.4", "StatusCake_Pagespeed_Indev",
            "kube-probe/1.29", "ELB-HealthChecker/2.0", "GoogleHC/1.0", "Site24x7", "updown.io daemon 2.11",
            "meta-externalagent/1.1", "Screaming Frog SEO Spider/19.0",
            "Baiduspider+(+http://www.baidu.com/search/spider.htm)",
            "Embedly/0.2", "Iframely/1.3.1 (+https://iframely.com/docs/about)", "Mozilla/5.0 Chrome-Lighthouse",
        ]
    )
    func robots(name: String) {
        #expect(isUncounted(name))
    }

    @Test(
        "players, browsers and apps count, also with robot names inside of longer words",
        arguments: [
            "VLC/3.0.20 LibVLC/3.0.20", "Lavf/60.16.100", "mpv 0.37.0", "curl/8.5.0", "okhttp/4.12.0", "Wget/1.21.4",
            "python-requests/2.31.0", "Go-http-client/2.0", "Dart/3.2 (dart:io)", "libmpv", "Amazon CloudFront",
            "ExoPlayerDemo/2.19.1 (Linux; Android 13; CUBOT NOTE 20) ExoPlayerLib/2.19.1",
            "Mozilla/5.0 (Linux; Android 9; CUBOT_X18_Plus Build/PPR1) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36",
            "AppleCoreMedia/1.0.0.21E236 (iPhone; U; CPU OS 17_4_1 like Mac OS X; en_us)",
            "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) 85.0/6.5 TV Safari/537.36",
            "Roku/DVP-12.5 (12.5.0.4178-88)", "Mozilla/5.0 (CrKey armv7l 1.36.159268) AppleWebKit/537.36 Chrome/90.0",
            "Mozilla/5.0 (X11; Linux x86_64; rv:124.0) Gecko/20100101 Firefox/124.0", "GStreamer souphttpsrc 1.22.0",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/125.0 Safari/537.36", "Botanica/2.0",
            "Mozilla/5.0 (PlayStation; PlayStation 5/4.03) AppleWebKit/605.1.15", "Kodi/20.2 (X11; Linux x86_64)",
            "Mozilla/5.0 (Linux; U; Android 10; Robotham Phone) AppleWebKit/537.36",
            "stagefright/1.2 (Linux;Android 9)",
            "Instagram 300.0 (iPhone14,5; iOS 17_0)", "PocketCasts/1.0", "My Zapiers Player/1", "",
        ]
    )
    func viewers(name: String) {
        #expect(!isUncounted(name))
    }

    @Test("a file adds words; a malformed file is rejected with its line")
    func file() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "robots-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("# ours\n\n  Watchdog/  \nstudio wall\n".utf8).write(to: URL(filePath: path))
        let list = try RobotList(path: path)
        #expect(isUncounted("ACME WATCHDOG/2", list) && isUncounted("the Studio Wall of hall 3", list))
        #expect(!isUncounted("VLC/3.0", list) && !isUncounted("ours", list) && !isUncounted("ACME WATCHDOG/2"))
        try Data("good\nno\n".utf8).write(to: URL(filePath: path))
        #expect { _ = try RobotList(path: path) } throws: { error in
            if case RobotList.Fault.badWord(line: 2) = error { true } else { false }
        }
        try Data(String(repeating: "word\n", count: 10_001).utf8).write(to: URL(filePath: path))
        #expect(throws: RobotList.Fault.self) { _ = try RobotList(path: path) }
        #expect(throws: RobotList.Fault.self) { _ = try RobotList(path: path + ".none") }
    }

    @Test("the source and date of the list are a metric, and the list is complete")
    func source() {
        let fixture = LedgerFixture()
        let labels = ["source": BotNames.source, "date": BotNames.date]
        #expect(fixture.metric("footlight_robot_list_info", labels) == 1)
        #expect(BotNames.all.count > 600 && BotNames.all.allSatisfy { $0.utf8.count >= 6 && $0 == $0.lowercased() })
        #expect(
            BotNames.all.contains("chatgpt-user")
                && !BotNames.all.contains { $0.hasPrefix(" ") || $0.hasSuffix(" ") }
        )
    }
}
