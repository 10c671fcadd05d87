import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import Pages

@Suite("Files of the pages")
struct PageFilesTests {
    private static let source = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/Pages/Site").path

    private let files = StaticFiles()

    @Test("serves every file of the folder unchanged, under one name")
    func completeness() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.source).filter { $0.contains(".") }
        #expect(paths.count == files.names.count)
        for path in paths {
            let data = try #require(FileManager.default.contents(atPath: Self.source + "/" + path))
            let name = String(path.split(separator: "/").last ?? "")
            let file = try #require(files[path] ?? files[name], "\(path) is not served")
            #expect(Array(file.bytes.readableBytesView) == Array(data), "\(path)")
        }
    }

    @Test("every referenced file exists")
    func references() throws {
        for name in files.names {
            let text = try text(of: name)
            let folder = name.split(separator: "/").dropLast()
            for match in text.matches(of: /from '([^']+)'/) {
                var path = folder.map(String.init)
                for part in match.output.1.split(separator: "/") where part != "." {
                    if part == ".." { path.removeLast() } else { path.append(String(part)) }
                }
                #expect(files[path.joined(separator: "/")] != nil, "\(name) imports \(match.output.1)")
            }
            for match in text.matches(of: /(?:src|href)="\/site\/([^"]+)"/) {
                if StaticFiles.libraries[String(match.output.1)] != nil { continue }
                #expect(files[String(match.output.1)] != nil, "\(name) wants \(match.output.1)")
            }
        }
    }

    @Test("no file references another origin, creates markup from text, or is too long")
    func rules() throws {
        let namespace = "http://www.w3.org/2000/svg"
        for name in files.names {
            let text = try text(of: name).replacing(namespace, with: "")
            #expect(text.firstMatch(of: /https?:|\/\/[a-z0-9-]+\.[a-z]{2}/) == nil, "\(name) names an address")
            let markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|javascript:/
            #expect(text.firstMatch(of: markup) == nil, "\(name) makes markup of text")
            #expect(text.firstMatch(of: /<[^>]+\s(style|on[a-z]+)=/) == nil, "\(name) has inline code or style")
            #expect(text.count { $0 == "\n" } < 450, "\(name) is too long")
        }
    }

    @Test("sends a page with its type and policy, and again only if it changed")
    func answers() async throws {
        let fixture = PageFixture()
        for (path, type) in [
            ("/dashboard", "text/html; charset=utf-8"), ("/watch/show", "text/html; charset=utf-8"),
            ("/site/theme.css", "text/css; charset=utf-8"), ("/site/footlight.svg", "image/svg+xml"),
            ("/site/watch/playlist.js", "text/javascript; charset=utf-8"),
        ] {
            let answer = try await fixture.ask(.get, path)
            #expect(answer.status == 200 && answer.headers[.contentType] == type, "\(path)")
            #expect(answer.headers[.contentLength] == String(answer.text.utf8.count) && !answer.text.isEmpty)
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            let policy = try #require(answer.headers[.contentSecurityPolicy])
            #expect(policy.hasPrefix("default-src 'self';") && policy.hasSuffix("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("http"))
            let tag = try #require(answer.headers[.eTag])
            let again = try await fixture.ask(.get, path, headers: [.ifNoneMatch: tag])
            #expect(again.status == 304 && again.text.isEmpty && again.headers[.eTag] == tag)
            let head = try await fixture.ask(.head, path)
            #expect(head.status == 200 && head.text.isEmpty && head.headers[.eTag] == tag)
        }
    }

    @Test("only the watch page may be framed, and only if embedded")
    func frames() async throws {
        let fixture = PageFixture()
        let embedded = try await fixture.ask(.get, "/watch/show?embed=1")
        #expect(embedded.headers[.contentSecurityPolicy]?.hasSuffix("frame-ancestors *") == true)
        #expect(embedded.headers[HTTPField.Name("X-Frame-Options") ?? .cookie] == nil)
        for path in ["/watch/show", "/watch/show?embed=2", "/dashboard?embed=1", "/site/watch.html?embed=1"] {
            let answer = try await fixture.ask(.get, path)
            #expect(answer.headers[.contentSecurityPolicy]?.hasSuffix("frame-ancestors 'none'") == true, "\(path)")
            #expect(answer.headers[HTTPField.Name("X-Frame-Options") ?? .cookie] == "DENY", "\(path)")
        }
    }

    @Test("the watch page stores a device id only if the operator allows it")
    func devices() async throws {
        let usual = try await PageFixture().ask(.get, "/watch/show")
        let asking = try await PageFixture(usesDeviceIDs: true).ask(.get, "/watch/show")
        let setting = #"<meta name="footlight-device-ids" content="#
        #expect(usual.text.contains(setting + #""off">"#))
        #expect(asking.text == usual.text.replacing(setting + #""off">"#, with: setting + #""on">"#))
        // A browser with the other version in its cache receives this one.
        #expect(asking.headers[.eTag] != usual.headers[.eTag])
    }

    @Test("unknown files are 404, and other addresses are forwarded to the API")
    func otherAddresses() async throws {
        let fixture = PageFixture()
        for path in ["/site/", "/site/none.js", "/site/../Package.swift", "/site/%2e%2e/x", "/dashboard/x", "/watch"] {
            #expect(try await fixture.ask(.get, path).status == 404, "\(path)")
        }
        #expect(try await fixture.ask(.post, "/dashboard").status == 405)
        #expect(try await fixture.ask(.get, "/v1/rooms").text == "nothing")
        #expect(try await fixture.ask(.get, "/dashboards").text == "nothing")
    }

    @Test("the watch page reads the public status of its room")
    func status() async throws {
        let fixture = PageFixture()
        let answer = try await fixture.ask(.get, "/watch/show/status")
        let status = try JSONValue(parsing: answer.text)
        #expect(answer.status == 200 && status["on_air"].bool == true && status["viewers"].int == 57)
        let now = try #require(status["now"].double)
        #expect(abs(now / 1000 - Date().timeIntervalSince1970) < 5)
        #expect(try await fixture.ask(.get, "/watch/none/status").status == 404)
    }

    @Test("serves the libraries that are installed", arguments: StaticFiles.libraries.keys.sorted())
    func libraries(name: String) async throws {
        #expect(try await PageFixture().ask(.get, "/site/\(name)").status == 404)
        let folder = try TemporaryFolder("library")
        let path = try folder.write("var library;", to: "library.js")
        let answer = try await PageFixture(libraries: [name: path]).ask(.get, "/site/\(name)")
        #expect(answer.text == "var library;" && answer.headers[.contentType] == "text/javascript; charset=utf-8")
    }

    private func text(of name: String) throws -> String {
        String(buffer: try #require(files[name]).bytes)
    }
}
