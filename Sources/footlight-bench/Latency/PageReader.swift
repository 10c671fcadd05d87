import Foundation
import TestSupport

/// Reads the time code of each frame that a page in Chromium shows, and measures the frame's age.
///
/// A canvas draws the current frame of the `video`, so decoded pixels are read.
struct PageReader {
    /// The results.
    struct Reading {
        /// Milliseconds from each frame's capture until the browser showed it.
        var ages = Samples()
        /// Milliseconds of program buffered in the page after each frame.
        var ahead = Samples()
        /// Frames shown whose time code could not be read.
        var unread = 0
    }

    private let browser: HeadlessBrowser

    /// - Parameter browser: Its page plays in `globalThis.video` a program that shows exactly one host.
    init(_ browser: HeadlessBrowser) {
        self.browser = browser
    }

    /// Starts to read.
    func begin() async throws {
        _ = try await browser.evaluate(script(clockOffset: TimeCode.clockOffset))
    }

    /// Returns the results so far.
    func read() async throws -> Reading {
        let result = try await browser.evaluate("reading")
        return Reading(
            ages: Samples(result["ages"].elements.compactMap(\.double)),
            ahead: Samples(result["ahead"].elements.compactMap(\.double)),
            unread: result["unread"].int ?? 0
        )
    }

    /// Saves a screenshot of the page as a PNG file, and returns the range of the age of the frame in it, in
    /// milliseconds; nil when its time code could not be read.
    func screenshot(to path: String) async throws -> ClosedRange<Double>? {
        let place = try await browser.evaluate(
            "(({ x, y, width, height }) => [width, height, x, y].map(Math.round))(video.getBoundingClientRect())"
        )
        let frame = place.elements.compactMap(\.int).map(String.init).joined(separator: ":")
        let before = Date()
        try await browser.captureScreenshot(to: path)
        let after = Date()
        guard let code = try? await TimeCode.read(file: path, frame: frame) else { return nil }
        let ages = (TimeCode.age(of: code, at: before), TimeCode.age(of: code, at: after))
        return ages.0 <= ages.1 ? ages.0...ages.1 : nil
    }

    private func script(clockOffset: Double) -> String {
        let (columns, rows, side) = (TimeCode.columns, TimeCode.rows, TimeCode.side)
        return """
            (() => {
                const [columns, rows, scaled] = [\(columns), \(rows), 8];
                const canvas = Object.assign(document.createElement('canvas'),
                    { width: columns * scaled, height: rows * scaled });
                const context = canvas.getContext('2d', { willReadFrequently: true });
                const isWhite = (data, column, row) => {
                    let sum = 0;
                    for (let y = 2; y < 6; y++) for (let x = 2; x < 6; x++) {
                        sum += data[4 * ((row * scaled + y) * columns * scaled + column * scaled + x) + 1];
                    }
                    return sum > 125 * 16;
                };
                const read = () => {
                    const [width, height] = [video.videoWidth, video.videoHeight];
                    const [across, down] = [width * \(columns * side) / 1280, height * \(rows * side) / 720];
                    context.drawImage(video, (width - across) / 2, (height - down) / 2, across, down,
                        0, 0, canvas.width, canvas.height);
                    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
                    const bytes = Array.from({ length: rows }, (_, row) => {
                        let byte = 0;
                        for (let column = 0; column < columns; column++) {
                            byte = byte * 2 + (isWhite(data, column, row) ? 1 : 0);
                        }
                        return byte;
                    });
                    const check = bytes[0] ^ bytes[1] ^ bytes[2] ^ bytes[3] ^ 0x5A;
                    return check === bytes[4] ? ((bytes[0] * 256 + bytes[1]) * 256 + bytes[2]) * 256 + bytes[3] : 0;
                };
                const reading = globalThis.reading = { ages: [], ahead: [], unread: 0 };
                let last = 0;
                const sample = (now, { expectedDisplayTime }) => {
                    const shown = performance.timeOrigin + Math.max(performance.now(), expectedDisplayTime || 0);
                    const code = read();
                    if (code === 0) {
                        reading.unread += 1;
                    } else if (code !== last) {
                        const { buffered, currentTime } = video;
                        const end = buffered.length > 0 ? buffered.end(buffered.length - 1) : currentTime;
                        reading.ages.push((shown - \(clockOffset) - code) % 4294967296 - 0.5);
                        reading.ahead.push((end - currentTime) * 1000);
                    }
                    last = code;
                    video.requestVideoFrameCallback(sample);
                };
                video.requestVideoFrameCallback(sample);
                return 0;
            })()
            """
    }
}
