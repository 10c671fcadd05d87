import FootlightTesting
import Foundation
import Glibc
import Synchronization

/// A headless Firefox, controlled by its own protocol, Marionette, over a TCP connection.
///
/// It accepts every certificate, starts media without a gesture, and ends with the value.
public final class FirefoxBrowser: Sendable {
    private struct State {
        var connection: Int32?
        var nextID = 0
        /// The incomplete message at the end of the input.
        var unread: [UInt8] = []
    }

    private static let settings = """
        user_pref("media.autoplay.default", 0);
        user_pref("media.autoplay.blocking_policy", 0);
        user_pref("media.volume_scale", "0.0");
        user_pref("browser.shell.checkDefaultBrowser", false);
        user_pref("browser.startup.page", 0);
        user_pref("datareporting.policy.dataSubmissionEnabled", false);
        user_pref("app.normandy.enabled", false);
        user_pref("network.captive-portal-service.enabled", false);
        user_pref("network.connectivity-service.enabled", false);
        user_pref("browser.safebrowsing.update.enabled", false);
        user_pref("extensions.update.enabled", false);
        """

    private let child: ChildProcess
    private let folder: TemporaryFolder
    private let state = Mutex(State())

    /// Starts a browser with one empty page.
    ///
    /// - Parameter deadline: The time in which it must start.
    /// - Throws: `ToolFailure` if it does not start.
    public init(within deadline: Duration = .seconds(40)) async throws {
        folder = try TemporaryFolder("firefox")
        let port = try FreePort.pick()
        let profile = folder.file("profile")
        try FileManager.default.createDirectory(atPath: profile, withIntermediateDirectories: true)
        let settings = Self.settings + "\nuser_pref(\"marionette.port\", \(port));\n"
        try settings.write(toFile: profile + "/user.js", atomically: true, encoding: .utf8)
        child = try ChildProcess(
            ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile]
                + ["--width", "1280", "--height", "800"],
            // Its files belong to whom it runs as.
            environment: ["HOME": folder.path, "MOZ_CRASHREPORTER_DISABLE": "1"],
            logFolder: folder.path
        )
        try await FreePort.waitUntilListening(port, within: deadline)
        guard let connection = LoopbackSocket.connect(port: port) else {
            throw ToolFailure("cannot connect to Firefox")
        }
        state.withLock { $0.connection = connection }
        // It introduces itself first.
        _ = try await next(within: deadline)
        _ = try await send("WebDriver:NewSession", ["acceptInsecureCerts": true], within: deadline)
    }

    deinit {
        child.end()
        if let connection = state.withLock({ $0.connection }) { close(connection) }
    }

    /// Opens a URL, and waits until the page is loaded.
    public func open(_ url: String) async throws {
        _ = try await send("WebDriver:Navigate", ["url": .string(url)])
    }

    /// Evaluates a JavaScript expression in the page; a promise is awaited.
    ///
    /// - Throws: `ToolFailure` with the exception of the script.
    public func evaluate(_ expression: String) async throws -> JSONValue {
        try await send("WebDriver:ExecuteScript", ["script": .string("return (\(expression));"), "args": []])["value"]
    }

    /// Waits until an expression is true in the page.
    public func waits(for expression: String, within deadline: Duration) async throws -> Bool {
        try await eventually(within: deadline, every: .milliseconds(100)) {
            try await self.evaluate("Boolean(\(expression))").bool == true
        }
    }

    // MARK: Protocol

    private func send(
        _ command: String,
        _ parameters: JSONValue,
        within deadline: Duration = .seconds(30)
    ) async throws -> JSONValue {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let message = JSONValue.array([0, .number(Double(id)), .string(command), parameters]).text
        try write("\(message.utf8.count):\(message)")
        while true {
            let answer = try await next(within: deadline)
            guard answer[0].int == 1, answer[1].int == id else { continue }
            guard answer[2] == .null else { throw ToolFailure("\(command) failed", log: answer[2].text) }
            return answer[3]
        }
    }

    private func write(_ text: String) throws {
        var bytes = ArraySlice(Array(text.utf8))
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { bytes in
                state.withLock { state in Glibc.send(state.connection ?? -1, bytes.baseAddress, bytes.count, 0) }
            }
            guard count > 0 || errno == EAGAIN else { throw ToolFailure("cannot write to Firefox") }
            bytes = bytes.dropFirst(max(count, 0))
        }
    }

    /// Returns the next message: its length in decimal digits, a colon, and JSON.
    private func next(within deadline: Duration) async throws -> JSONValue {
        var message: JSONValue?
        let isThere = try await eventually(within: deadline, every: .milliseconds(10)) {
            message = try self.read()
            guard message != nil || self.child.isRunning else {
                throw ToolFailure("Firefox ended", log: self.child.standardError)
            }
            return message != nil
        }
        guard isThere, let message else { throw ToolFailure("Firefox does not answer", log: child.standardError) }
        return message
    }

    private func read() throws -> JSONValue? {
        let bytes = state.withLock { state -> [UInt8]? in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = recv(state.connection ?? -1, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                state.unread += buffer[..<count]
            }
            guard let colon = state.unread.firstIndex(of: UInt8(ascii: ":")),
                let length = Int(String(decoding: state.unread[..<colon], as: UTF8.self)),
                state.unread.count > colon + length
            else { return nil }
            let message = Array(state.unread[(colon + 1)...(colon + length)])
            state.unread.removeFirst(colon + 1 + length)
            return message
        }
        return try bytes.map { try JSONValue(parsing: String(decoding: $0, as: UTF8.self)) }
    }
}
