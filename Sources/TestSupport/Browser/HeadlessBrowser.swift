import FootlightTesting
import Foundation
import Glibc
import Synchronization

/// A headless Chromium, controlled by the DevTools protocol over a pair of pipes.
///
/// It makes no network requests beyond those of the page, resolves only `localhost`, and ends with the value.
public final class HeadlessBrowser: Sendable {
    private struct State {
        var nextID = 0
        /// The incomplete message at the end of the input.
        var unread: [UInt8] = []
        /// The complete messages not processed yet.
        var messages: ArraySlice<String> = []
        var requests: [String] = []
        var consoleErrors: [String] = []
        var session: String?
        /// The identifier of the script that runs before those of each page.
        var preparation: String?
    }

    private let child: ChildProcess
    private let folder: TemporaryFolder
    private let commands: Int32
    private let answers: Int32
    private let state = Mutex(State())

    /// Starts a browser with one empty page.
    ///
    /// - Parameters:
    ///   - width: The width of the page in pixels.
    ///   - height: The height of the page in pixels.
    ///   - trustsAll: Whether it accepts every certificate, because it has no list of authorities of its own.
    ///   - deadline: The time in which it must start.
    /// - Throws: `ToolFailure` if it does not start.
    public init(
        width: Int = 1280,
        height: Int = 800,
        trustsAll: Bool = false,
        within deadline: Duration = .seconds(20)
    ) async throws {
        folder = try TemporaryFolder("browser")
        let pipes = ["in", "out"].map(folder.file)
        for pipe in pipes where mkfifo(pipe, 0o600) != 0 { throw ToolFailure("cannot create a pipe at \(pipe)") }
        // Opened for reading and writing, so that opening does not block.
        commands = Glibc.open(pipes[0], O_RDWR | O_CLOEXEC)
        answers = Glibc.open(pipes[1], O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard commands >= 0, answers >= 0 else { throw ToolFailure("cannot open the browser's pipes") }
        var options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
            "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-default-apps", "--disable-extensions", "--autoplay-policy=no-user-gesture-required",
            "--host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'",
            "--window-size=\(width),\(height)", "--user-data-dir='\(folder.file("profile"))'",
            "--remote-debugging-pipe",
        ]
        if trustsAll { options.append("--ignore-certificate-errors") }
        let line = "exec chromium \(options.joined(separator: " ")) about:blank 3<'\(pipes[0])' 4>'\(pipes[1])'"
        child = try ChildProcess(["/bin/sh", "-c", line], logFolder: folder.path)
        try await attach(within: deadline)
    }

    deinit {
        child.end()
        close(commands)
        close(answers)
    }

    /// The URLs requested by pages so far, successful or not.
    public var requests: [String] { state.withLock { $0.requests } }

    /// The script errors, uncaught exceptions and browser errors so far.
    public var consoleErrors: [String] { state.withLock { $0.consoleErrors } }

    /// Opens a URL.
    ///
    /// - Parameter script: Runs in the page and its frames before their own scripts; replaces that of an earlier call.
    public func open(_ url: String, preparedBy script: String? = nil) async throws {
        if let former = state.withLock({ $0.preparation }) {
            _ = try await send("Page.removeScriptToEvaluateOnNewDocument", ["identifier": .string(former)])
            state.withLock { $0.preparation = nil }
        }
        if let script {
            let answer = try await send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
            state.withLock { $0.preparation = answer["identifier"].string }
        }
        _ = try await send("Page.navigate", ["url": .string(url)])
    }

    /// Evaluates a JavaScript expression in the page; a promise is awaited.
    ///
    /// - Throws: `ToolFailure` with the exception of the script.
    public func evaluate(_ expression: String, within deadline: Duration = .seconds(15)) async throws -> JSONValue {
        let answer = try await send(
            "Runtime.evaluate",
            ["expression": .string(expression), "awaitPromise": true, "returnByValue": true, "userGesture": true],
            within: deadline
        )
        let exception = answer["exceptionDetails"]
        guard exception == .null else {
            throw ToolFailure("a script failed", log: exception["exception"]["description"].string ?? exception.text)
        }
        return answer["result"]["value"]
    }

    /// Waits until an expression is true in the page.
    public func waits(for expression: String, within deadline: Duration) async throws -> Bool {
        try await eventually(within: deadline, every: .milliseconds(100)) {
            try await self.evaluate("Boolean(\(expression))").bool == true
        }
    }

    /// Dispatches a key press that the page and the browser handle like user input.
    ///
    /// - Parameter key: The name as in `KeyboardEvent.key`: `m`, `Tab`, ` `.
    public func press(_ key: String) async throws {
        let isText = key.count == 1
        let codes = [" ": (32, "Space"), "Tab": (9, "Tab"), "Enter": (13, "Enter")]
        let letter = key.uppercased()
        let (number, code) = codes[key] ?? (Int(letter.unicodeScalars.first?.value ?? 0), "Key\(letter)")
        for type in [isText ? "keyDown" : "rawKeyDown", "keyUp"] {
            var event: [String: JSONValue] = [
                "type": .string(type), "key": .string(key), "code": .string(code),
                "windowsVirtualKeyCode": .number(Double(number)),
            ]
            if isText, type == "keyDown" { event["text"] = .string(key) }
            _ = try await send("Input.dispatchKeyEvent", event)
        }
    }

    /// Returns the role and name of each named node of the accessibility tree.
    public func accessibleNames() async throws -> [(role: String, name: String)] {
        let nodes = try await send("Accessibility.getFullAXTree", [:])["nodes"].elements
        return nodes.compactMap { node in
            guard let name = node["name"]["value"].string, !name.isEmpty, let role = node["role"]["value"].string else {
                return nil
            }
            return (role, name)
        }
    }

    /// Emulates a screen size, such as a phone's.
    public func resize(width: Int, height: Int, isPhone: Bool = false) async throws {
        let size: [String: JSONValue] = [
            "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
            "mobile": .bool(isPhone),
        ]
        _ = try await send("Emulation.setDeviceMetricsOverride", size)
    }

    /// Emulates the user's preference for light or dark pages.
    public func prefer(dark isDark: Bool) async throws {
        let feature: JSONValue = ["name": "prefers-color-scheme", "value": .string(isDark ? "dark" : "light")]
        _ = try await send("Emulation.setEmulatedMedia", ["features": .array([feature])])
    }

    /// Saves a screenshot of the page as a PNG file.
    public func captureScreenshot(to path: String) async throws {
        let answer = try await send("Page.captureScreenshot", ["format": "png"])
        guard let data = Data(base64Encoded: answer["data"].string ?? "") else { throw ToolFailure("no screenshot") }
        try data.write(to: URL(fileURLWithPath: path))
    }

    // MARK: Protocol

    private func attach(within deadline: Duration) async throws {
        var target: String?
        let isUp = try await eventually(within: deadline, every: .milliseconds(50)) {
            let targets = try await self.send("Target.getTargets", [:], within: deadline)["targetInfos"].elements
            target = targets.first { $0["type"].string == "page" }?["targetId"].string
            return target != nil
        }
        guard isUp, let target else { throw ToolFailure("chromium has no page", log: child.standardError) }
        let attached = try await send("Target.attachToTarget", ["targetId": .string(target), "flatten": true])
        state.withLock { $0.session = attached["sessionId"].string }
        for domain in ["Page", "Runtime", "Network", "Log"] { _ = try await send("\(domain).enable", [:]) }
    }

    private func send(
        _ method: String,
        _ parameters: [String: JSONValue],
        within deadline: Duration = .seconds(15)
    ) async throws -> JSONValue {
        let (id, session) = state.withLock { state in
            state.nextID += 1
            return (state.nextID, state.session)
        }
        var message: [String: JSONValue] = [
            "id": .number(Double(id)), "method": .string(method), "params": .object(parameters),
        ]
        if let session { message["sessionId"] = .string(session) }
        try write(JSONValue.object(message).text)
        var answer: JSONValue?
        let isAnswered = try await eventually(within: deadline, every: .milliseconds(5)) {
            // A browser that sends continuously must not prevent the end of a cancelled test.
            while !Task.isCancelled, let message = try self.read() {
                if message["id"].int == id {
                    answer = message
                    return true
                }
                self.record(message)
            }
            guard self.child.isRunning else { throw ToolFailure("chromium ended", log: self.child.standardError) }
            return false
        }
        guard isAnswered, let answer else { throw ToolFailure("chromium does not answer \(method)") }
        guard answer["error"] == .null else { throw ToolFailure("\(method): \(answer["error"].text)") }
        return answer["result"]
    }

    private func record(_ message: JSONValue) {
        let details = message["params"]
        state.withLock { state in
            switch message["method"].string {
            case "Network.requestWillBeSent":
                state.requests.append(details["request"]["url"].string ?? "")
            case "Runtime.exceptionThrown":
                let exception = details["exceptionDetails"]
                state.consoleErrors.append(exception["exception"]["description"].string ?? exception.text)
            case "Log.entryAdded" where details["entry"]["level"].string == "error":
                state.consoleErrors.append("\(details["entry"]["text"].text) \(details["entry"]["url"].string ?? "")")
            default:
                break
            }
        }
    }

    private func write(_ text: String) throws {
        var bytes = ArraySlice(Array(text.utf8) + [0])
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(commands, $0.baseAddress, $0.count) }
            guard count > 0 else { throw ToolFailure("cannot write to chromium") }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Returns the next complete message, or nil.
    private func read() throws -> JSONValue? {
        if let message = state.withLock({ $0.messages.popFirst() }) { return try JSONValue(parsing: message) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(answers, &buffer, buffer.count)
            guard count > 0 else { return nil }
            let message = state.withLock { state -> String? in
                state.unread += buffer[..<count]
                // Split per read, not per message, since a playing page sends many and debug builds are slow.
                guard let end = state.unread.lastIndex(of: 0) else { return nil }
                state.messages += state.unread[..<end].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
                state.unread.removeSubrange(...end)
                return state.messages.popFirst()
            }
            if let message { return try JSONValue(parsing: message) }
        }
    }
}
