import Foundation
import Glibc
import Synchronization

/// Chromium without a window, told what to do by its DevTools protocol over a pair of pipes.
///
/// It asks nothing of the network but what the page asks, resolves no name but `localhost`, and ends with the value.
public final class HeadlessBrowser: Sendable {
    private struct State {
        var nextID = 0
        /// The beginning of a message.
        var unread: [UInt8] = []
        /// Whole ones that nobody took yet.
        var messages: ArraySlice<String> = []
        var requests: [String] = []
        var complaints: [String] = []
        var session: String?
        /// The script that runs before those of each page.
        var preparation: String?
    }

    private let child: ChildProcess
    private let folder: TemporaryFolder
    private let commands: Int32
    private let answers: Int32
    private let state = Mutex(State())

    /// Starts a browser with one empty page.
    ///
    /// - Parameter size: Of the page, in pixels.
    /// - Throws: `ToolFailure` when it does not come up.
    public init(width: Int = 1280, height: Int = 800, within deadline: Duration = .seconds(20)) async throws {
        folder = try TemporaryFolder("browser")
        let pipes = ["in", "out"].map(folder.file)
        for pipe in pipes where mkfifo(pipe, 0o600) != 0 { throw ToolFailure("cannot make a pipe at \(pipe)") }
        // Open for both ways, so that neither end waits for the other.
        commands = Glibc.open(pipes[0], O_RDWR | O_CLOEXEC)
        answers = Glibc.open(pipes[1], O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard commands >= 0, answers >= 0 else { throw ToolFailure("cannot open the browser's pipes") }
        let options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
            "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-default-apps", "--disable-extensions", "--autoplay-policy=no-user-gesture-required",
            "--host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'",
            "--window-size=\(width),\(height)", "--user-data-dir='\(folder.file("profile"))'",
            "--remote-debugging-pipe",
        ]
        let line = "exec chromium \(options.joined(separator: " ")) about:blank 3<'\(pipes[0])' 4>'\(pipes[1])'"
        child = try ChildProcess(["/bin/sh", "-c", line], logFolder: folder.path)
        try await attach(within: deadline)
    }

    deinit {
        child.end()
        close(commands)
        close(answers)
    }

    /// The addresses that pages asked for so far, whatever came of it.
    public var requests: [String] { state.withLock { $0.requests } }

    /// Errors and uncaught exceptions of scripts, and what the browser refused them, so far.
    public var complaints: [String] { state.withLock { $0.complaints } }

    /// Opens an address.
    ///
    /// - Parameter script: Runs in the page, and in the frames in it, before anything of theirs; what an earlier call asked
    ///   for does not any more.
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

    /// What an expression of JavaScript is in the page; of a promise, what it comes to.
    ///
    /// - Throws: `ToolFailure` with the exception that it threw.
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

    /// Presses a key as a hand does: the page and the browser itself act on it.
    ///
    /// - Parameter key: As `KeyboardEvent.key` names it: `m`, `Tab`, ` `.
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

    /// What a screen reader finds on the page: the role and the name of each thing that has a name.
    public func accessibleNames() async throws -> [(role: String, name: String)] {
        let nodes = try await send("Accessibility.getFullAXTree", [:])["nodes"].elements
        return nodes.compactMap { node in
            guard let name = node["name"]["value"].string, !name.isEmpty, let role = node["role"]["value"].string else {
                return nil
            }
            return (role, name)
        }
    }

    /// Makes the window as large as another screen, such as a phone's.
    public func resize(width: Int, height: Int, isPhone: Bool = false) async throws {
        let size: [String: JSONValue] = [
            "width": .number(Double(width)), "height": .number(Double(height)), "deviceScaleFactor": 1,
            "mobile": .bool(isPhone),
        ]
        _ = try await send("Emulation.setDeviceMetricsOverride", size)
    }

    /// Lets the page believe that its user prefers light or dark pages.
    public func prefer(dark isDark: Bool) async throws {
        let feature: JSONValue = ["name": "prefers-color-scheme", "value": .string(isDark ? "dark" : "light")]
        _ = try await send("Emulation.setEmulatedMedia", ["features": .array([feature])])
    }

    /// Keeps a picture of the page as a PNG file.
    public func takePicture(to path: String) async throws {
        let answer = try await send("Page.captureScreenshot", ["format": "png"])
        guard let data = Data(base64Encoded: answer["data"].string ?? "") else { throw ToolFailure("no picture") }
        try data.write(to: URL(fileURLWithPath: path))
    }

    // MARK: The protocol

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
            // As long as the browser says more than is read, this goes on: the end of a test has to end it.
            while !Task.isCancelled, let message = try self.read() {
                if message["id"].int == id {
                    answer = message
                    return true
                }
                self.note(message)
            }
            guard self.child.isRunning else { throw ToolFailure("chromium ended", log: self.child.standardError) }
            return false
        }
        guard isAnswered, let answer else { throw ToolFailure("chromium does not answer \(method)") }
        guard answer["error"] == .null else { throw ToolFailure("\(method): \(answer["error"].text)") }
        return answer["result"]
    }

    private func note(_ message: JSONValue) {
        let details = message["params"]
        state.withLock { state in
            switch message["method"].string {
            case "Network.requestWillBeSent":
                state.requests.append(details["request"]["url"].string ?? "")
            case "Runtime.exceptionThrown":
                let exception = details["exceptionDetails"]
                state.complaints.append(exception["exception"]["description"].string ?? exception.text)
            case "Log.entryAdded" where details["entry"]["level"].string == "error":
                state.complaints.append("\(details["entry"]["text"].text) \(details["entry"]["url"].string ?? "")")
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

    /// The next message, if all of it is there.
    private func read() throws -> JSONValue? {
        if let message = state.withLock({ $0.messages.popFirst() }) { return try JSONValue(parsing: message) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(answers, &buffer, buffer.count)
            guard count > 0 else { return nil }
            let message = state.withLock { state -> String? in
                state.unread += buffer[..<count]
                // Once a read, not once a message: a page that plays says much, and a slow build falls behind.
                guard let end = state.unread.lastIndex(of: 0) else { return nil }
                state.messages += state.unread[..<end].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
                state.unread.removeSubrange(...end)
                return state.messages.popFirst()
            }
            if let message { return try JSONValue(parsing: message) }
        }
    }
}
